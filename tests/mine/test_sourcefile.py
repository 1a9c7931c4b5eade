from __future__ import annotations

from pathlib import Path

import pytest

from curate import mine
from curate.errors import UserError
from curate.workspace import Workspace
from tests.mine.projects import write


def test_a_list_with_arguments_beside_it_each_request_once(workspace: Workspace) -> None:
    write(workspace.root, {
        "sources/two.toml": 'title = "Two"\n[[project]]\nrequest = "pypi:Demo==1.0"\nname = "d"\nnote = "small"\n'
        '[[project]]\nrequest = "code"\n',
        "code/a.py": "",
    })  # fmt: skip
    found = mine.requests(["pypi:other", "sources/two.toml", "pypi:demo==1.0"], workspace)
    assert found == ["pypi:other", "pypi:demo==1.0", str(workspace.root / "code")]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('title = "x"\n[[project]]\nrequst = "pypi:a"\n', r"unknown key .*requst.*request"),
        ('title = "x"\n[[project]]\nname = "a"\n', "request"),
        ('title = "x"\n[[project]]\nrequest = 3\n', "request"),
        ('title = "x"\n[[projects]]\nrequest = "pypi:a"\n', "did you mean project"),
        ('title = "x"\nproject = []\n', "project"),
        ('[[project]]\nrequest = "pypi:a"\n', "title"),
        ("title =", "not valid TOML"),
        ('title = "x"\n[[project]]\nrequest = "pypi:a>1"\n', r"project 1, request: pypi:a>1: write pypi:NAME"),
        ('title = "x"\n[[project]]\nrequest = "pypi:a"\n[[project]]\nrequest = "svn:a/b"\n',
         r"project 2, request: svn:a/b: a source is one of pypi:NAME.*git\+URL.*github:OWNER.*a folder"),
        ('title = "x"\n[[project]]\nrequest = "github:a"\n', r"project 1, request: github:a: write github:OWNER/NAME"),
        ('title = "x"\n[search]\nstar = 3\n', r"unknown key search.star, did you mean stars\?.*topics"),
        ('title = "x"\n[search]\nstars = "lots"\n', r"search.stars: write a number as >=400.*lots"),
        ('title = "x"\n[search]\narchived = "no"\n', r"search.archived: .*'exclude', 'include' or 'only'"),
        ('title = "x"\n', r"neither a \[search\] nor a \[\[project\]\]"),
        ('title = "x"\n[[project]]\nrequest = "other.toml"\n', r"project 1, request"),
        ('title = "x"\n[[project]]\nrequest = "git+https://tok-en@host/a/b"\n', r"project 1, request: .*netrc"),
        ('title = "x"\n[[project]]\nrequest = "git+https://u:tok-en@host/a/b"\n', r"project 1, request: .*netrc"),
    ],
)  # fmt: skip
def test_mistakes_are_told_with_file_and_key(workspace: Workspace, text: str, said: str) -> None:
    write(workspace.root, {"sources/bad.toml": text})
    with pytest.raises(UserError, match=said) as caught:
        mine.requests(["sources/bad.toml"], workspace)
    message = str(caught.value)
    assert "sources/bad.toml" in message
    assert "\n" not in message
    assert "tok-en" not in message


def test_a_list_that_is_not_there(workspace: Workspace) -> None:
    with pytest.raises(UserError, match=r"sources/none\.toml"):
        mine.requests(["sources/none.toml"], workspace)


def test_the_quickstart_names_exact_versions() -> None:
    root = Path(__file__).parent.parent.parent
    found = mine.requests(["sources/quickstart.toml"], Workspace(root))
    assert found == ["pypi:einops==0.8.2", "pypi:opt-einsum==3.4.0"]
