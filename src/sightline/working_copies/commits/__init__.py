"""Commits that an agent made inside a working copy: found, and stored before the copy is removed."""
