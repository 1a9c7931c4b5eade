"""What GitHub says of repositories and commits, as JSON."""

from __future__ import annotations

import base64
import hashlib
import zlib
from datetime import datetime
from typing import Any, NamedTuple
from urllib.parse import urlencode

from tests.github_double.repository import Commit, Repository
from tests.github_double.world import World

DOCS = "https://docs.github.com/rest"
NAMES = {
    "MIT": "MIT License", "Apache-2.0": "Apache License 2.0", "GPL-3.0": "GNU General Public License v3.0",
    "BSD-3-Clause": 'BSD 3-Clause "New" or "Revised" License', "NOASSERTION": "Other",
}  # fmt: skip


class Site(NamedTuple):
    """Base addresses: on GitHub Enterprise the API lies below a path, the clones do not."""

    api: str
    web: str


def repository(world: World, one: Repository, site: Site, *, whole: bool) -> dict[str, Any]:
    """Return a repository; `whole` as by itself, else as among hits."""
    api, web = f"{site.api}/repos/{one.full_name}", f"{site.web}/{one.full_name}"
    said: dict[str, Any] = {
        "id": one.id,
        "node_id": f"R_{one.id}",
        "name": one.name,
        "full_name": one.full_name,
        "private": one.private,
        "owner": owner(one.owner, site),
        "html_url": web,
        "description": one.description or None,
        "fork": one.fork_of is not None,
        "url": api,
        "commits_url": f"{api}/commits{{/sha}}",
        "git_url": f"{web.replace('http:', 'git:')}.git",
        "clone_url": f"{web}.git",
        "ssh_url": f"git@{site.web.partition('://')[2]}:{one.full_name}.git",
        "homepage": one.homepage,
        "created_at": stamp(one.created_at),
        "updated_at": stamp(one.updated),
        "pushed_at": stamp(one.pushed_at),
        "size": 0 if one.state == "empty" else one.size,
        "stargazers_count": one.stars,
        "watchers_count": one.stars,
        "watchers": one.stars,
        "language": one.language,
        "has_issues": True,
        "open_issues_count": 0,
        "forks_count": one.forks,
        "forks": one.forks,
        "mirror_url": None,
        "archived": one.archived,
        "disabled": one.disabled,
        "visibility": "private" if one.private else "public",
        "is_template": one.is_template,
        "topics": list(one.topics),
        "license": licence(one.license),
        "default_branch": one.default_branch,
    }
    return said | (_relatives(world, one, site) if whole else {"score": 1.0})


def _relatives(world: World, one: Repository, site: Site) -> dict[str, Any]:
    line = list(world.line(one))
    said: dict[str, Any] = {"subscribers_count": 0, "network_count": one.forks}
    if line:
        said |= {"parent": repository(world, line[0], site, whole=False)}
        said |= {"source": repository(world, line[-1], site, whole=False)}
    template = world.by_id.get(one.template) if one.template is not None else None
    if template:
        said["template_repository"] = repository(world, template, site, whole=False)
    for related in said.values():
        if isinstance(related, dict):
            del related["score"]
    return said


def owner(login: str, site: Site) -> dict[str, Any]:
    """Return a user or organisation."""
    return {
        "login": login,
        "id": zlib.crc32(login.encode()),
        "node_id": f"O_{login}",
        "url": f"{site.api}/users/{login}",
        "html_url": f"{site.web}/{login}",
        "type": "Organization",
        "site_admin": False,
    }


def licence(spdx: str | None) -> dict[str, Any] | None:
    """Return a licence as GitHub writes it; what it does not recognise is `other`, NOASSERTION."""
    if spdx is None:
        return None
    key = "other" if spdx == "NOASSERTION" else spdx.lower()
    url = None if spdx == "NOASSERTION" else f"https://api.github.com/licenses/{key}"
    return {"key": key, "name": NAMES.get(spdx, spdx), "spdx_id": spdx, "url": url, "node_id": f"L_{key}"}


def license_file(one: Repository, site: Site) -> dict[str, Any] | None:
    """Return the licence file with what GitHub takes it for."""
    found = one.license_file()
    if found is None:
        return None
    path, content = found
    blob = b"blob %d\0%b" % (len(content), content)
    return {
        "name": path,
        "path": path,
        "sha": hashlib.sha1(blob, usedforsecurity=False).hexdigest(),
        "size": len(content),
        "url": f"{site.api}/repos/{one.full_name}/contents/{path}?ref={one.default_branch}",
        "html_url": f"{site.web}/{one.full_name}/blob/{one.default_branch}/{path}",
        "download_url": None,
        "type": "file",
        "content": base64.encodebytes(content).decode(),
        "encoding": "base64",
        "license": licence(one.license or "NOASSERTION"),
    }


def commit(one: Commit, site: Site, full_name: str) -> dict[str, Any]:
    """Return a commit."""
    who = {"name": one.author, "email": one.email, "date": stamp(one.date)}
    api, web = f"{site.api}/repos/{full_name}", f"{site.web}/{full_name}"
    return {
        "sha": one.sha,
        "node_id": f"C_{one.sha[:12]}",
        "commit": {
            "author": who,
            "committer": who,
            "message": one.message,
            "tree": {"sha": one.tree, "url": f"{api}/git/trees/{one.tree}"},
            "url": f"{api}/git/commits/{one.sha}",
            "comment_count": 0,
        },
        "url": f"{api}/commits/{one.sha}",
        "html_url": f"{web}/commit/{one.sha}",
        "author": None,
        "committer": None,
        "parents": [
            {"sha": sha, "url": f"{api}/commits/{sha}", "html_url": f"{web}/commit/{sha}"} for sha in one.parents
        ],
    }


def links(address: str, query: dict[str, str], page: int, last: int) -> dict[str, str]:
    """Return the Link header: prev, next, last and first, as far as there are such pages."""
    places = {}
    if page > 1:
        places["prev"] = min(page - 1, last)
    if page < last:
        places |= {"next": page + 1, "last": last}
    if page > 1:
        places["first"] = 1
    said = [f'<{address}?{urlencode({**query, "page": to})}>; rel="{rel}"' for rel, to in places.items() if to]
    return {"Link": ", ".join(said)} if said else {}


def error(message: str, status: int, place: str = "", **more: Any) -> dict[str, Any]:
    """Return an error."""
    return {"message": message, **more, "documentation_url": f"{DOCS}{place}", "status": str(status)}


def stamp(moment: datetime) -> str:
    """Return a time as GitHub writes it."""
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"
