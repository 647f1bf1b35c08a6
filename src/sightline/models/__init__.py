"""Model APIs for our own agent: Anthropic, OpenAI and what is compatible with it, Gemini, and a scripted one."""

from typing import TYPE_CHECKING

from sightline._later import later
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
from sightline.models._assembly import Assembly

if TYPE_CHECKING:
    from sightline.models._listing import Usable, usable
    from sightline.models._open import default_model, open_model, vision_model

__all__ = [
    "Assembly",
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
    "Usable",
    "default_model",
    "open_model",
    "usable",
    "vision_model",
]

# Clients and what finds them are imported when a model is opened.
_LATER = {
    "open_model": "_open",
    "default_model": "_open",
    "vision_model": "_open",
    "usable": "_listing",
    "Usable": "_listing",
}

__getattr__ = later(__name__, _LATER)
