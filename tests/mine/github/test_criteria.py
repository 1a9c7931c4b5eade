from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import ValidationError

from curate.mine.github.criteria import Search

ROW: dict[str, Any] = {
    "full_name": "team/project", "archived": False, "fork": False, "fork_of": None, "is_template": False,
    "size_kb": 1000, "stars": 500, "license": "MIT", "language": "Python",
}  # fmt: skip


def test_a_query_for_each_topic_and_language() -> None:
    search = Search(topics=["pytorch", "keras"], languages=["Python", "Jupyter Notebook"], stars=">=400")
    assert search.queries() == [
        "topic:pytorch language:Python stars:>=400 size:0..2048000",
        'topic:pytorch language:"Jupyter Notebook" stars:>=400 size:0..2048000',
        "topic:keras language:Python stars:>=400 size:0..2048000",
        'topic:keras language:"Jupyter Notebook" stars:>=400 size:0..2048000',
    ]


def test_all_qualifiers() -> None:
    search = Search(
        pushed=">=2023-01-01", qualifiers=" in:readme tensor ", archived="exclude", forks="include", licenses=["MIT"]
    )
    assert search.queries() == [
        "pushed:>=2023-01-01 size:0..2048000 archived:false fork:true license:mit in:readme tensor"
    ]
    assert "license" not in Search(licenses=["MIT", "ISC"]).queries()[0], "several cannot be asked for at once"


def test_the_window_ends_before_today_unless_it_says_when() -> None:
    now = datetime(2026, 5, 4, 13, 30, tzinfo=UTC)
    window = Search().window(now)
    assert window is not None
    assert window.end == datetime(2026, 5, 3, 23, 59, 59, tzinfo=UTC)
    window = Search(created="2020-02-01..2020-02-29").window(now)
    assert window is not None
    assert window.qualifier() == "created:2020-02-01T00:00:00Z..2020-02-29T23:59:59Z"


@pytest.mark.parametrize(
    ("search", "change", "reason"),
    [
        ({"archived": "exclude"}, {"archived": True}, "archived"),
        ({}, {"fork": True, "fork_of": "a/b"}, "fork"),
        ({"templates": "exclude"}, {"is_template": True}, "template"),
        ({"size_mb": [0, 1]}, {"size_kb": 1025}, "size"),
        ({"stars": ">=400"}, {"stars": 399}, "stars"),
        ({"stars": "100..400"}, {"stars": 401}, "stars"),
        ({"stars": "*..400"}, {"stars": 401}, "stars"),
        ({"stars": "<400"}, {"stars": 400}, "stars"),
        ({"stars": "7"}, {"stars": 8}, "stars"),
        ({"licenses": ["MIT"]}, {"license": None}, "licence"),
        ({"languages": ["python"]}, {"language": "C++"}, "language"),
        ({"languages": ["python"]}, {"language": None}, "language"),
    ],
)
def test_why_a_repository_is_not_taken(search: dict[str, Any], change: dict[str, Any], reason: str) -> None:
    rule = Search(**search)
    assert rule.refusal({**ROW, **change})[0] == reason  # type: ignore[index]
    fitting = {"stars": {"stars": 7 if search.get("stars") == "7" else 399 if "<" in str(search.get("stars")) else 400}}
    assert rule.refusal({**ROW, **fitting.get(reason, {})}) is None


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("stars", "many", "400"), ("stars", "=>4", "400"), ("created", "2020", "2015-01-01"),
        ("created", "2020-13-01..2020-14-01", "2015"), ("created", "2021-01-01..2020-01-01", "after"),
        ("pushed", "2020", "2023"), ("pushed", ">=2020-02-30", "2023"), ("qualifiers", "stars:>3", "stars"),
        ("qualifiers", "x -archived:true", "archived"), ("size_mb", [3, 1], "least"), ("topics", [""], "name"),
        ("topics", ['a" OR "b'], "name"), ("take", 0, "greater"), ("archived", "no", "exclude"),
    ],
)  # fmt: skip
def test_mistakes(key: str, value: Any, said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        Search.model_validate({key: value})
