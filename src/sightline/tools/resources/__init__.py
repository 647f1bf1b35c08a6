"""Addresses of the session itself: what it keeps, what was said, and the notes of the agent."""

from sightline.tools.resources._resource import Resource, is_internal, needs_of, resolve, write

__all__ = ["Resource", "is_internal", "needs_of", "resolve", "write"]
