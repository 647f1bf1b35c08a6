"""Internal addresses: artifacts, conversations, the agent's notes, merge conflicts."""

from sightline.tools.resources._resource import Resource, is_internal, needs_of, resolve, write

__all__ = ["Resource", "is_internal", "needs_of", "resolve", "write"]
