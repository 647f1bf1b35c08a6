"""A conversation as a model reads it: what is sent to a model, its answers, and what is stored of both.

Rules:

- Every model API's client turns these into its own wire form and its answers into these; nothing else knows that form.
- `id` of a call is ours, `native_id` is what the model called it. A client sends `native_id or id` back.
- What only the API that made it can read again (signed reasoning, opaque items) names that API, and is sent to no
  other.
- An image is stored as an artifact URL. `data` is filled in for a request alone and never stored.
"""

from typing import Any, Literal, Union

import msgspec

from sightline.events import CallEnding, Usage

SKILL = "skill"  # origin of a message with the text of a skill that the user had the agent use
SIDE_QUESTION = "btw"  # origin of a message that is in one request and in no conversation

# tool_use: it made calls. refusal: it would not answer. aborted: we stopped it. error: it broke off.
StopReason = Literal["stop", "tool_use", "length", "refusal", "aborted", "error"]


class TextPart(msgspec.Struct, frozen=True, tag="text"):
    text: str


class ImagePart(msgspec.Struct, frozen=True, tag="image", omit_defaults=True):
    media_type: str  # image/png, image/jpeg, image/gif or image/webp
    url: str = ""  # where it is stored
    data: str = ""  # base64, for a request only


class ReasoningPart(msgspec.Struct, frozen=True, tag="reasoning", omit_defaults=True):
    """The model's thinking. `signature` and `opaque` go back unchanged to the API named in `api`, and to no other."""

    text: str
    api: str = ""
    signature: str = ""
    opaque: Any = None  # an item only that API understands (redacted thinking, an encrypted reasoning item)


class CallPart(msgspec.Struct, frozen=True, tag="call", omit_defaults=True):
    """A tool call the model made. `args` is the decoded JSON; `broken` is its text when that is no JSON object."""

    id: str
    name: str
    args: dict[str, Any] = {}
    native_id: str = ""
    broken: str = ""
    api: str = ""
    opaque: Any = None  # such as a signature that must come back with the call


AssistantPart = Union[TextPart, ReasoningPart, CallPart]
Content = Union[TextPart, ImagePart]


class UserMessage(msgspec.Struct, frozen=True, tag_field="role", tag="user", omit_defaults=True):
    """A message of the user, or one made for the user (`origin` names by whom: a job, an extension, a summary)."""

    parts: list[Content]
    origin: str = ""


class AssistantMessage(msgspec.Struct, frozen=True, tag_field="role", tag="assistant", omit_defaults=True):
    """One answer of a model, whole or as far as it came."""

    parts: list[AssistantPart]
    api: str = ""
    model: str = ""
    stop_reason: StopReason = "stop"
    usage: Usage | None = None
    cost: float | None = None  # US dollars; None: not known
    error: str = ""

    @property
    def calls(self) -> list[CallPart]:
        return [part for part in self.parts if isinstance(part, CallPart)]

    @property
    def text(self) -> str:
        return "".join([part.text for part in self.parts if isinstance(part, TextPart)])


class ToolMessage(msgspec.Struct, frozen=True, tag_field="role", tag="tool", omit_defaults=True):
    """The result of a call. `call` is our id of it, `native_id` the model's."""

    call: str
    name: str
    parts: list[Content]
    native_id: str = ""
    is_error: bool = False
    ending: CallEnding | None = None  # no model reads it


Message = Union[UserMessage, AssistantMessage, ToolMessage]


def text_of(message: Message) -> str:
    """Its words, without thinking, calls and images."""
    return "\n".join([part.text for part in message.parts if isinstance(part, TextPart)])


def user_run_text(kind: str, typed: str, shown: str) -> str:
    """What the model reads of a command (`shell`) or of Python (`cell`) that the user ran."""
    whose, before, after = _USER_RUNS[kind]
    return f"The user ran {whose} themselves:\n\n{before}{typed}{after}\n\n{shown}"


def user_run_of(message: UserMessage) -> tuple[str, str] | None:
    """What the user typed, as the console takes it, and what came of it; None: the message is no such run."""
    if message.origin not in _USER_RUNS:
        return None
    _, before, after = _USER_RUNS[message.origin]
    run = text_of(message).partition("themselves:\n\n")[2]
    typed, _, shown = run.removeprefix(before).partition(f"{after}\n\n")
    return f"{'!' if message.origin == 'shell' else '$ '}{typed}", shown


_USER_RUNS = {"shell": ("a command", "$ ", ""), "cell": ("Python", "```python\n", "\n```")}
