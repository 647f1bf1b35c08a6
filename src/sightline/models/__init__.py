"""Model APIs for our own agent: Anthropic, OpenAI and what is compatible with it, Gemini, and a scripted one."""

from sightline.models._api import (
    CallBegun,
    CallDelta,
    Done,
    ErrorKind,
    Model,
    ModelError,
    ModelFacts,
    ModelRequest,
    Piece,
    ReasoningDelta,
    Retrying,
    TextDelta,
    ToolSpec,
)

__all__ = [
    "CallBegun",
    "CallDelta",
    "Done",
    "ErrorKind",
    "Model",
    "ModelError",
    "ModelFacts",
    "ModelRequest",
    "Piece",
    "ReasoningDelta",
    "Retrying",
    "TextDelta",
    "ToolSpec",
]
