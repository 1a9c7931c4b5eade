import unittest


class TestCase(unittest.TestCase):
    pass


class Shared(TestCase):
    def setUp(self):
        self.x = 1
