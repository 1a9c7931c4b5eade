from importlib import import_module
from typing import TYPE_CHECKING, overload

if TYPE_CHECKING:
    import torch


@overload
def scale(x: int) -> int: ...
@overload
def scale(x: float) -> float: ...
def scale(x):
    """Scale it."""
    return 2 * x


async def load(name):
    match name:
        case "sk":
            import sklearn.svm
        case _:
            return import_module("mxnet.gluon"), import_module(name), __import__("torch")
