"""What the agent asks of a model and what it gets back, whichever API is behind it.

Rules:

- `stream` yields pieces as they arrive and ends with exactly one `Done`, which has the whole answer; or it raises
  `ModelError`. Nothing follows `Done`.
- Pieces of one block share `index`; indexes grow in the order blocks begin. A call's id in a piece is ours already.
- A wait before a retry is a piece (`Retrying`) and can be cancelled like everything else. Once a piece of the answer
  itself has been yielded, a client does not retry: the stream was cut, and `ModelError.partial` has what came.
- Text is filtered (`text.StreamFilter`) before it is yielded. Arguments are not: they are data.
"""

from collections.abc import AsyncIterator
from typing import Literal, Protocol, Union

import msgspec

from sightline.conversation import AssistantMessage, Message
from sightline.exceptions import OutsideFailure
from sightline.settings import Thinking

ErrorKind = Literal[
    "overflow",  # the conversation is longer than the model reads
    "auth",
    "rate_limit",
    "overloaded",
    "quota",  # no money left: waiting does not help
    "bad_request",
    "not_found",  # no such model
    "refused",  # the server will not answer this
    "network",
    "cut",  # the stream ended before the answer did
    "protocol",  # not what this API defines
]


class ToolSpec(msgspec.Struct, frozen=True):
    """A tool as a model sees it."""

    name: str
    description: str
    parameters: msgspec.Raw  # its JSON schema, an object


class ModelRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One request. Images in the messages have their `data`."""

    system: str
    messages: list[Message]
    tools: tuple[ToolSpec, ...] = ()
    thinking: Thinking = "off"
    max_output: int = 0  # 0: the model's own limit
    tool_choice: str = ""  # the name of a tool it must call; empty: as it likes
    cache_key: str = ""  # the same for all requests of a conversation


class TextDelta(msgspec.Struct, frozen=True, gc=False):
    index: int
    text: str


class ReasoningDelta(msgspec.Struct, frozen=True, gc=False):
    index: int
    text: str


class CallStarted(msgspec.Struct, frozen=True, gc=False):
    index: int
    id: str
    name: str


class CallDelta(msgspec.Struct, frozen=True, gc=False):
    index: int
    id: str
    name: str
    delta: str  # the next piece of the JSON text of its arguments


class Retrying(msgspec.Struct, frozen=True, gc=False):
    """The server could not answer; the request is repeated after `seconds`."""

    attempt: int
    attempts: int
    seconds: float
    reason: str


class Done(msgspec.Struct, frozen=True, gc=False):
    message: AssistantMessage


Piece = Union[TextDelta, ReasoningDelta, CallStarted, CallDelta, Retrying, Done]


class ModelError(OutsideFailure):
    """A request failed. `retryable`: asking again later may help. `partial`: what had come when the stream was cut."""

    def __init__(
        self,
        kind: ErrorKind,
        message: str,
        hint: str = "",
        *,
        retryable: bool = False,
        retry_after: float | None = None,  # seconds, as the server requested
        status: int | None = None,
        partial: AssistantMessage | None = None,
    ) -> None:
        super().__init__(message, hint)
        self.kind = kind
        self.retryable = retryable
        self.retry_after = retry_after
        self.status = status
        self.partial = partial


class ModelFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What is known about a model. None means not known, never none."""

    id: str  # as its API names it
    provider: str = ""  # anthropic, openai, google, openrouter, or the name of a server
    context: int | None = None  # tokens it reads
    max_output: int | None = None
    thinking: bool | None = None
    images: bool | None = None
    tools: bool | None = None


class Model(Protocol):
    """A model that takes requests. One per session and model; closed at the end."""

    @property
    def facts(self) -> ModelFacts: ...

    @property
    def api(self) -> str:
        """anthropic, responses, chat, gemini or scripted."""

    def stream(self, request: ModelRequest) -> AsyncIterator[Piece]: ...

    async def close(self) -> None: ...
