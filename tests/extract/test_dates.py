"""Since when a function has been there: one small history for each way in which code comes, stays and goes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.extract.histories import Dated, Repository, long

Dating = Callable[..., Dated]


@pytest.fixture
def repo(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "repo")


@pytest.fixture
def dated(tmp_path: Path, repo: Repository) -> Dating:
    return lambda **settings: Dated(repo, tmp_path / "workspace", **settings)


def test_another_body_is_a_change_of_the_same_function(repo: Repository, dated: Dating) -> None:
    repo.commit(1, {"a.py": long("f")})
    repo.commit(2, {"b.py": long("g", 9)})
    changed = repo.commit(3, {"a.py": "def f(x):\n    return other(x)\n"})
    repo.commit(4, {"c.txt": "nothing"})
    found = dated()
    assert found.days("f") == (1, 3, 3)
    assert found["f"].changed_commit == changed
    assert found.days("g") == (2, 2, 2)
    assert found["f"].complete


def test_layout_comments_and_docstrings_are_no_change(repo: Repository, dated: Dating) -> None:
    repo.commit(1, {"a.py": "class A:\n    def f(self, x):\n        return g(x, 'y')\n"})
    repo.commit(
        2, {"a.py": 'import re\n\nclass A:\n  def f(self,\n        x):\n    """Say."""\n    return g(x,"y")  # so\n'}
    )
    repo.commit(3, {"a.py": "class A:\r\n\tdef f(self, x):\r\n\t\treturn (g(x, 'y'))\r\n"})
    assert dated().days("A.f") == (1, 1, 1)


def test_a_change_taken_back_is_a_change(repo: Repository, dated: Dating) -> None:
    for number, body in enumerate((1, 2, 1), 1):
        repo.commit(number, {"a.py": long("f", body)})
    assert dated().days("f") == (1, 1, 3)


def test_a_file_is_renamed_and_then_the_body_changes(repo: Repository, dated: Dating) -> None:
    repo.commit(1, {"a.py": long("f") + long("g", 2)})
    repo.commit(2, {"a.py": None, "lib/b.py": long("f") + long("g", 2)})
    repo.commit(3, {"lib/b.py": long("f", 5) + long("g", 2)})
    found = dated()
    assert found.days("f") == (1, 3, 3)
    assert found.days("g") == (1, 1, 1)
    assert found["g"].first_seen_path == "a.py"


def test_a_file_is_renamed_and_changed_in_one_commit(repo: Repository, dated: Dating) -> None:
    same = "".join(long(f"same_{n}", n) for n in range(5))
    repo.commit(1, {"a.py": same + "def f(x):\n    return old(x)\n"})
    repo.commit(2, {"a.py": None, "b.py": same + "def f(x):\n    return very(different, indeed)\n"})
    assert dated().days("f") == (1, 2, 2)


def test_a_function_moves_to_another_file(repo: Repository, dated: Dating) -> None:
    keep = long("stays", 7)
    repo.commit(1, {"a.py": keep + "def f(x):\n    return x + 1\n", "b.py": long("there", 8)})
    repo.commit(2, {"a.py": keep, "b.py": long("there", 8) + "\ndef f(x):\n    return x+1\n"})
    found = dated()
    assert found.days("f") == (1, 1, 1)
    assert "moved from a.py:f" in found["f"].how


def test_a_function_moves_and_changes_a_little(repo: Repository, dated: Dating) -> None:
    keep = long("stays", 7)
    repo.commit(1, {"a.py": keep + long("f"), "b.py": long("there", 8)})
    moved = long("f").replace("return combine(", "return other(")
    repo.commit(2, {"a.py": keep, "b.py": long("there", 8) + moved})
    assert dated().days("f") == (1, 2, 2)


def test_a_function_written_anew_elsewhere_under_an_old_name_is_new(repo: Repository, dated: Dating) -> None:
    keep = long("stays", 7)
    repo.commit(1, {"a.py": keep + long("f"), "b.py": long("there", 8)})
    repo.commit(2, {"a.py": keep, "b.py": long("there", 8) + "def f(x):\n    for y in x:\n        yield y * 2\n"})
    assert dated().days("f") == (2, 2, 2)


@pytest.mark.parametrize("elsewhere", ["a.py", "b.py"])
def test_a_function_that_was_away_comes_back(elsewhere: str, repo: Repository, dated: Dating) -> None:
    repo.commit(1, {"a.py": long("stays", 7) + long("f"), "b.py": long("there", 8)})
    repo.commit(2, {"a.py": long("stays", 7)})
    repo.commit(3, {"c.py": long("between", 3)})
    now = {"a.py": long("stays", 7), "b.py": long("there", 8)}
    repo.commit(4, {elsewhere: now[elsewhere] + long("f")})
    assert dated().days("f") == (1, 1, 1)
    repo.commit(5, {elsewhere: now[elsewhere]})
    repo.commit(6, {elsewhere: now[elsewhere] + long("f").replace("return combine", "return other")})
    assert dated().days("f") == (1, 6, 6)


def test_a_copy_is_as_old_as_what_it_copies_also_once_it_changes(repo: Repository, dated: Dating) -> None:
    repo.commit(1, {"a.py": long("f")})
    repo.commit(2, {"b.py": long("f")})
    found = dated()
    assert found.days("a.py:f") == found.days("b.py:f") == (1, 1, 1)
    repo.commit(3, {"b.py": long("f", 4)})
    assert dated().days("b.py:f") == (1, 3, 3)


def test_short_bodies_are_alike_by_chance_and_share_only_the_date_of_the_body(repo: Repository, dated: Dating) -> None:
    repo.commit(1, {"a.py": "def f(x):\n    return x\n"})
    repo.commit(2, {"b.py": "def f(x):\n    return x\n"})
    assert dated().days("b.py:f") == (2, 1, 2)


def test_a_function_is_renamed(repo: Repository, dated: Dating) -> None:
    repo.commit(1, {"a.py": long("f") + "def g(x):\n    return x\n"})
    repo.commit(2, {"a.py": long("new_f") + "def new_g(x):\n    return x\n"})
    found = dated()
    assert found.days("new_f") == (1, 2, 2)
    assert found.days("new_g") == (1, 2, 2)
    assert "same statements from a.py:f" in found["new_f"].how


def test_a_function_is_renamed_and_changes_a_little(repo: Repository, dated: Dating) -> None:
    repo.commit(1, {"a.py": long("f")})
    repo.commit(2, {"a.py": long("better").replace("return combine(", "return other(")})
    assert dated().days("better") == (1, 2, 2)


def test_a_default_changes(repo: Repository, dated: Dating) -> None:
    repo.commit(1, {"a.py": "def f(x=1):\n    return x\n"})
    repo.commit(2, {"a.py": "def f(x=2):\n    return x\n"})
    assert dated().days("f") == (1, 2, 2)


def test_a_method_becomes_a_function(repo: Repository, dated: Dating) -> None:
    method = "class A:\n    @staticmethod\n" + "".join(f"    {line}\n" for line in long("f").splitlines())
    repo.commit(1, {"a.py": method})
    repo.commit(2, {"a.py": "class A:\n    pass\n\n" + long("f")})
    assert dated().days("f") == (1, 2, 2)


def test_a_method_becomes_a_function_and_is_rewritten_while_its_file_moves(repo: Repository, dated: Dating) -> None:
    stays = long("stays", 7) + long("too", 8)
    repo.commit(1, {"a.py": stays + "class A:\n    def f(self):\n        self.check(g(self.x))\n        return 1\n"})
    repo.commit(2, {"a.py": None, "b.py": stays + "def f():\n    for one in many:\n        assert g(one)\n"})
    assert dated().days("f") == (1, 2, 2)


def test_a_class_is_renamed_with_its_methods(repo: Repository, dated: Dating) -> None:
    text = "class Old:\n    def __init__(self):\n        self.x = 1\n\n    def f(self):\n        return self.x\n"
    repo.commit(1, {"a.py": text})
    repo.commit(2, {"a.py": text.replace("Old", "New")})
    found = dated()
    assert found.days("New.f") == found.days("New.__init__") == (1, 1, 1)


def test_accessors_of_one_name_keep_their_own_dates(repo: Repository, dated: Dating) -> None:
    getter = "class A:\n    @property\n    def x(self):\n        return self._x\n"
    repo.commit(1, {"a.py": getter})
    repo.commit(2, {"a.py": getter + "\n    @x.setter\n    def x(self, value):\n        self._x = value\n"})
    found = dated()
    rows = {f.kind: found.rows[f.function_id] for f in found.functions}
    assert rows["getter"].changed_at < rows["setter"].changed_at
    assert rows["setter"].body_seen_at == rows["setter"].changed_at


def test_tests_nested_functions_and_conditional_ones_have_dates_too(repo: Repository, dated: Dating) -> None:
    repo.commit(1, {"tests/test_a.py": "def test_f():\n    assert f(1)\n"})
    inner = "if fast:\n    def f():\n        def inner():\n            return 1\n        return inner\n"
    repo.commit(2, {"a.py": inner + "else:\n    def f():\n        return 2\n"})
    repo.commit(3, {"a.py": inner + "else:\n    def f():\n        return 3\n"})
    found = dated()
    assert found.days("test_f") == (1, 1, 1)
    assert found.days("f.<locals>.inner") == (2, 2, 2)
    assert sorted(found.rows[f.function_id].changed_at.day for f in found.functions if f.qualname == "f") == [3, 4]
