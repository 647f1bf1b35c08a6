"""One typed settings tree, where its values come from, and which of them wins."""

from sightline.settings._tree import Settings, Thinking

__all__ = ["Settings", "Thinking"]
