"""Stages made for the tests of the pipeline itself."""
