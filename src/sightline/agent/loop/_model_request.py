"""The request of a turn, in the form every client understands."""

import base64
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from sightline.conversation import (
    AssistantMessage,
    CallPart,
    Content,
    ImagePart,
    Message,
    ReasoningPart,
    TextPart,
    ToolMessage,
    UserMessage,
)
from sightline.models import ModelRequest, ToolSpec
from sightline.settings import Thinking
from sightline.tools import ArtifactShelf, Tool, ToolRegistry


def specs_of(tools: ToolRegistry) -> tuple[ToolSpec, ...]:
    return tuple([spec_of(tool) for tool in tools if tool.load == "always"])


def spec_of(tool: Tool[Any]) -> ToolSpec:
    return ToolSpec(tool.name, tool.description, msgspec.Raw(msgspec.json.encode(tool.schema())))


class ModelRequests:
    """Builds requests. Images are read from the shelf when they are sent, and cached.

    A conversation only grows between its requests, so what was tidied once is reused: a turn late in a long session
    costs no more than an early one.
    """

    def __init__(
        self, system: Callable[[], str], tools: ToolRegistry, artifacts: ArtifactShelf, cache_key: str
    ) -> None:
        self._system = system
        self._tools = tools
        self._artifacts = artifacts
        self._cache_key = cache_key
        self._specs: tuple[ToolSpec, ...] | None = None
        self._images: dict[str, str] = {}  # base64, by URL
        self._source: Sequence[Message] = ()  # what the last request was made of,
        self._count = 0  # how much of it there was,
        self._tidy: list[Message] = []  # what that came to,
        self._pictured: list[int] = []  # and which of it has images
        self.force_tool = ""  # the name of a tool that the next answer must call
        self.on_request: Callable[[], object] = lambda: None

    @property
    def system(self) -> str:
        return self._system()

    def request(
        self, messages: Sequence[Message], *, thinking: Thinking, max_output: int, sees: bool = True
    ) -> ModelRequest:
        self.on_request()
        forced, self.force_tool = self.force_tool, ""
        return ModelRequest(
            system=self.system,
            messages=self._in_order(messages, sees),
            tools=self._tool_specs(),
            thinking=thinking,
            max_output=max_output,
            tool_choice=forced if forced in self._tools else "",
            cache_key=self._cache_key,
        )

    def aside(
        self, messages: Sequence[Message], *, thinking: Thinking, max_output: int, sees: bool = True
    ) -> ModelRequest:
        """A request beside the conversation. It begins as the next one of the conversation does, so that a server has
        that beginning in its cache; it is not counted, and the next one is what it would be without it."""
        return ModelRequest(
            system=self.system,
            messages=[self._with_images(message, sees) for message in tidy(messages)],
            tools=self._tool_specs(),
            thinking=thinking,
            max_output=max_output,
            cache_key=self._cache_key,
        )

    def _tool_specs(self) -> tuple[ToolSpec, ...]:
        if self._specs is None:
            self._specs = specs_of(self._tools)
        return self._specs

    def tools_changed(self) -> None:
        self._specs = None

    def _in_order(self, messages: Sequence[Message], sees: bool) -> list[Message]:
        new = messages[self._count :]
        if messages is not self._source or len(messages) < self._count or (new and isinstance(new[0], ToolMessage)):
            self._source, self._tidy, self._pictured, self._images = messages, [], [], {}
            new = messages
        self._count = len(messages)
        for message in tidy(new):
            if has_image(message):
                self._pictured.append(len(self._tidy))
            self._tidy.append(message)
        ordered = list(self._tidy)
        for at in self._pictured:
            ordered[at] = self._with_images(ordered[at], sees)
        return ordered

    def _with_images(self, message: Message, sees: bool) -> Message:
        if not has_image(message):
            return message
        parts = [self._loaded(part, sees) if isinstance(part, ImagePart) else part for part in message.parts]
        return msgspec.structs.replace(message, parts=parts)

    def _loaded(self, image: ImagePart, sees: bool) -> Content:
        if not sees:
            return TextPart(f"[an image ({image.media_type}) that this model cannot see]")
        if image.url not in self._images:
            data = self._read(image.url)
            if not data:
                return TextPart(f"[an image ({image.media_type}) that is no longer stored]")
            self._images[image.url] = data
        return msgspec.structs.replace(image, data=self._images[image.url])

    def _read(self, url: str) -> str:
        path = self._artifacts.find(url)
        try:
            return "" if path is None else base64.b64encode(path.read_bytes()).decode()
        except OSError:
            return ""


def tidy(messages: Sequence[Message]) -> list[Message]:
    """A conversation a model accepts: no answer that broke off or is empty, no call without its result."""
    answered = {message.call for message in messages if isinstance(message, ToolMessage)}
    called: set[str] = set()
    tidied: list[Message] = []
    for message in messages:
        if isinstance(message, AssistantMessage):
            if message.stop_reason == "error":
                continue
            parts = [part for part in message.parts if not isinstance(part, CallPart) or part.id in answered]
            if all(isinstance(part, ReasoningPart) for part in parts):
                continue
            called.update(part.id for part in parts if isinstance(part, CallPart))
            tidied.append(
                message if len(parts) == len(message.parts) else msgspec.structs.replace(message, parts=parts)
            )
        elif isinstance(message, UserMessage) or message.call in called:
            tidied.append(message)
    return tidied


def has_new_image(messages: Sequence[Message]) -> bool:
    """Whether there is an image among what no model has answered yet."""
    for message in reversed(messages):
        if isinstance(message, AssistantMessage):
            return False
        if has_image(message):
            return True
    return False


def has_image(message: Message) -> bool:
    return not isinstance(message, AssistantMessage) and any(isinstance(part, ImagePart) for part in message.parts)
