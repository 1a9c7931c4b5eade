import unittest

import pytest

from .common import Shared

keras = pytest.importorskip("keras")


@pytest.fixture
def test_data():
    return 1


def test_one(test_data):
    """Tests are not functions of the project."""
    import torch

    def test_inner():
        pass


def test_one():
    pass


def helper():
    pass


class TestGroup:
    def test_a(self):
        pass

    def check(self):
        pass

    class TestInner:
        def test_b(self):
            pass


class TestWithInit:
    def __init__(self):
        pass

    def test_no(self):
        pass


class TestOff:
    __test__ = False

    def test_no(self):
        pass


class Plain:
    def test_no(self):
        pass


class Case(unittest.TestCase):
    def test_c(self):
        pass


class Derived(Shared):
    def test_d(self):
        pass


class StillOff(TestOff, unittest.TestCase):
    def test_no(self):
        pass


if True:

    def test_two():
        pass
