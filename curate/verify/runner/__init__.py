"""Runs inside the sandbox, in the project's interpreter: nothing here may import curate or anything but pytest.

Python 3.9 must be able to read these files, since projects choose the interpreter.
"""
