"""Where a mined repository can be asked again, after its row in `snapshots`, which holds no credentials."""

from __future__ import annotations

from curate.git.command import Remote
from curate.mine import git, github


def remote_of(work_item: str, url: str) -> Remote:
    """Return the repository that an exact request was mined from.

    Of `git+` requests the path or the address stands in the request itself, without credentials: whoever needs some
    has them for ssh. Those for GitHub come from the environment, as in mining. Raises UserError when these are no good.
    """
    if git.matches(work_item):
        return Remote(git.split(work_item)[0])
    if github.matches(work_item):
        return github.remote(github.split(work_item)[0])
    return Remote(url)
