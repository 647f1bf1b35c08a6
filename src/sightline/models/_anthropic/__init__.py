"""Anthropic Messages."""

from sightline.models._anthropic._model import AnthropicModel

__all__ = ["AnthropicModel"]
