"""What GitHub says of repositories and commits, as JSON."""

from __future__ import annotations

import zlib
from datetime import datetime
from typing import Any

from tests.github_double.world import Repository, World

DOCS = "https://docs.github.com/rest"
NAMES = {"MIT": "MIT License", "Apache-2.0": "Apache License 2.0", "NOASSERTION": "Other"}


def repository(world: World, one: Repository, host: str, *, whole: bool) -> dict[str, Any]:
    """Return a repository; `whole` as by itself, else as among hits."""
    api, web = f"http://{host}/repos/{one.full_name}", f"http://{host}/{one.full_name}"
    said: dict[str, Any] = {
        "id": one.id,
        "node_id": f"R_{one.id}",
        "name": one.name,
        "full_name": one.full_name,
        "private": one.private,
        "owner": {"login": one.owner, "id": zlib.crc32(one.owner.encode()), "type": "Organization"},
        "html_url": web,
        "description": one.description or None,
        "fork": one.fork_of is not None,
        "url": api,
        "clone_url": f"{web}.git",
        "ssh_url": f"git@{host}:{one.full_name}.git",
        "homepage": None,
        "created_at": stamp(one.created_at),
        "updated_at": stamp(one.pushed_at),
        "pushed_at": stamp(one.pushed_at),
        "size": one.size,
        "stargazers_count": one.stars,
        "watchers_count": one.stars,
        "language": one.language,
        "forks_count": 0,
        "archived": one.archived,
        "disabled": False,
        "visibility": "private" if one.private else "public",
        "is_template": one.is_template,
        "topics": list(one.topics),
        "license": licence(one.license),
        "default_branch": one.default_branch,
        "score": 1.0,
    }
    if whole:
        del said["score"]
        if one.fork_of is not None:
            parent = world.by_id[one.fork_of]
            source = parent
            while source.fork_of is not None:
                source = world.by_id[source.fork_of]
            said["parent"] = repository(world, parent, host, whole=False)
            said["source"] = repository(world, source, host, whole=False)
        if one.template is not None:
            said["template_repository"] = repository(world, world.by_id[one.template], host, whole=False)
    return said


def licence(spdx: str | None) -> dict[str, Any] | None:
    """Return a licence as GitHub writes it; what it does not recognise is `other`, NOASSERTION."""
    if spdx is None:
        return None
    key = "other" if spdx == "NOASSERTION" else spdx.lower()
    url = None if spdx == "NOASSERTION" else f"https://api.github.com/licenses/{key}"
    return {"key": key, "name": NAMES.get(spdx, spdx), "spdx_id": spdx, "url": url, "node_id": f"L_{key}"}


def commit(sha: str, date: datetime, host: str, full_name: str) -> dict[str, Any]:
    """Return a commit."""
    who = {"name": "A. Uthor", "email": "a@example.org", "date": stamp(date)}
    return {
        "sha": sha,
        "node_id": f"C_{sha[:8]}",
        "commit": {"author": who, "committer": who, "message": "change", "tree": {"sha": sha, "url": ""}},
        "url": f"http://{host}/repos/{full_name}/commits/{sha}",
        "html_url": f"http://{host}/{full_name}/commit/{sha}",
        "author": None,
        "committer": None,
        "parents": [],
    }


def error(message: str, **more: Any) -> dict[str, Any]:
    """Return an error."""
    return {"message": message, **more, "documentation_url": DOCS}


def stamp(moment: datetime) -> str:
    """Return a time as GitHub writes it."""
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"
