"""Gemini's generateContent."""

from sightline.models._gemini._model import GeminiModel

__all__ = ["GeminiModel"]
