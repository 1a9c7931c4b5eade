"""Proof by running: an environment for each project, its suite traced, each function proven by a stub that fails."""
