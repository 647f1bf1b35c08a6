"""The person of the conversations."""

from tests.views.console.e2e.conftest import person

__all__ = ["person"]
