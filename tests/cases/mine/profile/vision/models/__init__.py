"""A small project: what is documented, what is a stub, what is a test, and what is imported where."""

import numpy as np
from torch import nn

from . import blocks
from .torch import helper  # relative: not the framework


class Net(nn.Module):
    """A net."""

    def __init__(self):
        super().__init__()

    def forward(self, x):
        """Apply it."""

        def inner(y):
            import jax.numpy as jnp  # local, and inside a function

            return jnp.asarray(y)

        return inner(x)

    def later(self):
        raise NotImplementedError

    def also_later(self):
        """Will do something."""
        ...


try:
    import tensorflow as tf
except ImportError:
    tf = None

if tf is not None:

    def convert(x):
        """Convert it."""
        return tf.convert_to_tensor(x)

else:

    def convert(x):
        return np.asarray(x)
