import abc
import functools
import typing
import typing as t
from functools import cached_property as remembered
from typing import overload
from typing import overload as several

@overload
def f(x: int) -> int: ...
@typing.overload
def f(x: str) -> str: ...
@t.overload
def f(x: bytes) -> bytes: ...
@several
def f(x: None) -> None: ...
def f(x):
    """The function itself."""
    return x


class A:
    def same(self): return 1

    @property
    def p(self):
        return self._p

    @p.setter
    def p(self, value):
        self._p = value

    @p.deleter
    def p(self):
        del self._p

    @functools.cached_property
    def q(self):
        return 1

    @remembered
    def r(self):
        return 2

    @property
    @abc.abstractmethod
    def s(self): ...

    @staticmethod
    def build(): return A()


class B:
    def same(self): return 2

    class Inner:
        async def same(self):
            def helper():
                return 3
            return helper()


if t.TYPE_CHECKING:
    def conditional(): return 1
else:
    def conditional(): return 2

try:
    import numba
except ImportError:
    def jit(function):
        def wrapper(*args):
            return function(*args)
        return wrapper
finally:
    def last(): pass

with open("x") as handle:
    def in_with(): return handle

for n in range(3):
    def in_for(): return n

match n:
    case 1:
        def in_match(): return "one"

@functools.lru_cache(
    maxsize=None,  # all @ of them
)
@ (lambda g: g)
def decorated(
    a,  # first
    b="# no comment",
    *rest,
    key: int = 1,
    **more,
) -> int:
    return a
