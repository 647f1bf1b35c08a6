"""The work of one prompt for a chat completions server: settings, the request, its answer, the kept conversation.

Rules:

- The status is looked at before the body. Bodies and streams are read by the same source, line by line, each line up
  to `LINE_CAP`; a server that answers the other way than it was asked is understood all the same.
- 429, 5xx and connections that fail are tried again, visibly, until something of the answer was shown. Then nothing is
  tried again: the answer would be another one.
- The key goes into one header. Whatever comes back is masked before it becomes an event or a message; only the bytes
  of a successful answer that were asked for raw are untouched.
- The conversation is kept when an answer arrived whole. Read raw, an answer is not parsed, and so not kept.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from sightline.events import Event, Notice, Reasoning, RetryState, Text, ToolArgs, ToolUse
from sightline.providers._provider import ProviderPrompt
from sightline.providers._stream import EventStream
from sightline.providers.openai_compatible._failure import (
    BODY_CAP,
    ChatFailure,
    Mask,
    delay_before,
    not_reached,
    refused,
)
from sightline.providers.openai_compatible._request import (
    RETRIES,
    check_options,
    encoded,
    endpoint,
    reply_messages,
    request_body,
    with_prompt,
)
from sightline.providers.openai_compatible._settings import EndpointSettings, load_settings
from sightline.providers.openai_compatible._source import ChatSource
from sightline.providers.openai_compatible._store import (
    StoredConversation,
    load_conversation,
    new_conversation,
    save_conversation,
)

if TYPE_CHECKING:
    import httpx2

# A proxy from the environment is for the rest of the world.
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_CONNECT_SECONDS, _SILENCE_SECONDS = 10.0, 600.0


class ChatWork:
    """`emit` takes batches of events, or bytes when `raw` is set. `words` and `session` are for the outcome."""

    def __init__(
        self,
        ask: ProviderPrompt,
        emit: Callable[[list[Event] | bytes], Awaitable[None]],
        *,
        sleep: Callable[[float], Awaitable[None]],
        now: Callable[[], float],
    ) -> None:
        self._ask = ask
        self._emit = emit
        self._sleep = sleep
        self._now = now
        self.raw = False
        self.source = ChatSource()
        self.session = ""
        self.words: list[str] = []
        self._calls: list[ToolUse] = []
        self._shown = False

    async def run(self) -> None:
        """Do all of it; SightlineError when it failed before an answer began."""
        check_options(self._ask.options)
        settings, conversation, client = await asyncio.to_thread(self._prepare)
        async with client:
            await self._converse(client, settings, conversation)

    def _prepare(self) -> "tuple[EndpointSettings, StoredConversation, httpx2.AsyncClient]":
        """All that would hold up the event loop: reading files, importing the client, loading certificates."""
        import httpx2

        settings = load_settings(self._ask)
        conversation = load_conversation(self._ask.resume) if self._ask.resume else new_conversation()
        timeout = httpx2.Timeout(_SILENCE_SECONDS, connect=_CONNECT_SECONDS)
        direct: dict[str, None] = {f"all://{host}": None for host in _LOOPBACK}
        return settings, conversation, httpx2.AsyncClient(timeout=timeout, mounts=direct)

    async def _converse(
        self, client: "httpx2.AsyncClient", settings: EndpointSettings, conversation: StoredConversation
    ) -> None:
        if self._ask.resume:
            self.session = conversation.id
        model = self._ask.model or conversation.model or settings.model
        settings = settings._replace(model=model)
        messages = with_prompt(conversation.messages, self._ask)
        payload = encoded(request_body(self._ask, model, messages))
        opening = self.source.turns.begin(conversation.id, model)
        if settings.file_is_open:
            warning = f"others can read {settings.file}, which holds an API key"
            opening.append(Notice(warning, "warning", f"chmod 600 {settings.file}"))
        await self._tell(opening)
        stream = await self._answer(client, settings, payload)
        if not self.raw:
            await self._close(stream.end(), StoredConversation(id=conversation.id, model=model, messages=messages))

    async def _answer(self, client: "httpx2.AsyncClient", settings: EndpointSettings, payload: bytes) -> EventStream:
        """Ask until there is an answer, or no sense in asking again."""
        given = self._ask.options.get("retries")
        retries, attempt = given if isinstance(given, int) else RETRIES, 0
        while True:
            stream = EventStream(self.source)
            try:
                await self._attempt(client, settings, payload, stream, is_first=attempt == 0)
                return stream
            except ChatFailure as failure:
                if self._shown and not self.raw:
                    return stream  # whose source knows that the end is missing
                attempt += 1
                if not failure.retry or attempt > retries or self._shown:
                    if self.raw and failure.body:
                        await self._emit(failure.body)
                    raise
                await self._wait(failure, attempt, retries)
            self.source.start_over()

    async def _wait(self, failure: ChatFailure, attempt: int, retries: int) -> None:
        delay = delay_before(attempt, failure)
        again = RetryState(failure.message, attempt, retries, delay).as_state()
        text = f"{failure.message}; retrying in {round(delay, 1):g} s ({attempt} of {retries})"
        await self._tell([again, Notice(text, "warning", failure.hint)])
        await self._sleep(delay)

    async def _attempt(
        self,
        client: "httpx2.AsyncClient",
        settings: EndpointSettings,
        payload: bytes,
        stream: EventStream,
        *,
        is_first: bool,
    ) -> None:
        import httpx2

        try:
            async with client.stream(
                "POST", endpoint(settings.base_url), content=payload, headers=_headers(settings)
            ) as response:
                if response.status_code >= 300:
                    body = await _beginning(response)
                    raise refused(settings, response.status_code, response.headers, body, self._now())
                if not is_first:
                    await self._tell([RetryState.over()])
                await self._read(response, settings, stream)
        except (httpx2.HTTPError, httpx2.InvalidURL) as problem:
            connecting = isinstance(problem, (httpx2.ConnectError, httpx2.ConnectTimeout))
            slow = isinstance(problem, httpx2.TimeoutException) and not connecting
            raise not_reached(settings, problem, connecting=connecting, slow=slow) from None

    async def _read(self, response: "httpx2.Response", settings: EndpointSettings, stream: EventStream) -> None:
        mask = Mask(settings.api_key)
        async for chunk in response.aiter_bytes():
            if self.raw:
                self._shown = True
                await self._emit(chunk)
                continue
            await self._tell(stream.feed(mask.feed(chunk)))
            if self.source.is_done:
                return
        await self._tell(stream.feed(mask.end()))

    async def _tell(self, events: list[Event]) -> None:
        if self.raw or not events:
            return
        for event in events:
            if isinstance(event, Text):
                self.words.append(event.text)
            elif isinstance(event, ToolUse):
                self._calls.append(event)
            self._shown = self._shown or isinstance(event, (Text, Reasoning, ToolArgs, ToolUse))
        await self._emit(events)

    async def _close(self, closing: list[Event], conversation: StoredConversation) -> None:
        """Tell what the end of the answer holds, keep the conversation, and then say that the run is over."""
        await self._tell(closing[:-1])
        last = closing[-1:]
        if self.source.turns.answers and not self.source.turns.failed:
            conversation.messages += reply_messages("".join(self.words), self._calls)
            try:
                await asyncio.to_thread(save_conversation, conversation)
                self.session = conversation.id
            except (OSError, ValueError) as problem:
                text = f"the conversation cannot be stored: {getattr(problem, 'strerror', '') or problem}"
                last.insert(0, Notice(text, "warning", "it cannot be resumed"))
        await self._tell(last)


async def _beginning(response: "httpx2.Response") -> bytes:
    """Of a body that is only quoted, as much as is worth reading."""
    body = b""
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) >= BODY_CAP:
            break
    return body[:BODY_CAP]


def _headers(settings: EndpointSettings) -> dict[str, str]:
    headers = {"content-type": "application/json", "user-agent": "sightline"}
    if settings.api_key:
        headers["authorization"] = f"Bearer {settings.api_key}"
    return headers
