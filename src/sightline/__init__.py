"""Sightline: everything any agent, subagent or tool does, visible while it happens, in one form."""

__version__ = "0.1.0"
