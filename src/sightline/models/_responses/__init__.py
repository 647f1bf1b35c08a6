"""OpenAI Responses, and servers that speak it."""

from sightline.models._responses._model import ResponsesModel

__all__ = ["ResponsesModel"]
