"""Vim keys: modes, motions and changes."""
