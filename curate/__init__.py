"""Build, prove, label, check and publish code-generation benchmarks from real projects."""

__version__ = "0.1.0"
