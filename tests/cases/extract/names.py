import os.path
import numpy as np
import torch.nn as nn
from . import sibling
from ..top import thing as other
from torch.nn import functional as F


def helper(x):
    return x


class Base(nn.Module):
    """A base."""

    size: int = 3

    def __init__(self, np):
        super().__init__()
        self.x = np.zeros(3)

    def forward(self, x, /, *rest, key=None, **more):
        from math import sqrt as root

        def inner(y):
            return F.relu(y)

        return self.step(helper(inner(np.abs(x))), root(2), sibling.go(), other(), os.path.join("a"))

    def step(self, *args): ...


def shadow(F):
    return F.relu(1), len([1])
