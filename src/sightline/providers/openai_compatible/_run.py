"""One prompt for a chat completions server, as a run: events or bytes for a reader, then an outcome.

Rules:

- The work is done by a task of its own, so that cancelling or a timeout ends it at once, wherever it waits. Giving up
  the iteration ends it too.
- The status is looked at before the body. Bodies and streams are read by the same source, line by line, each line up
  to `LINE_CAP`; a server that answers in the other form than requested is understood all the same.
- 429, 5xx and connections that fail are tried again, visibly, until something of the answer was shown. Then nothing is
  tried again: the answer would be another one.
- The key goes into one header. Whatever comes back is masked before it becomes an event or a message; only the bytes
  of a successful answer that were requested raw are untouched.
- The conversation is stored when an answer arrived whole, as the messages that are sent, in one file under an id of
  ours. The file is replaced as a whole, and only its owner can read it. An answer that is read raw is not stored.
"""

import asyncio
import os
import re
import secrets
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING

import msgspec

from sightline.events import Error, Event, Notice, Reasoning, RetryState, RunEnded, Text, ToolArgs, ToolUse
from sightline.events.stamping import of_source
from sightline.exceptions import OutsideFailure, SightlineError, UserMistake
from sightline.paths import data_folder, private_folder
from sightline.providers._provider import ProviderOutcome, ProviderPrompt
from sightline.providers._stream import EventStream
from sightline.providers.openai_compatible import _request
from sightline.providers.openai_compatible._failure import (
    BODY_CAP,
    ChatFailure,
    Mask,
    delay_before,
    not_reached,
    refused,
)
from sightline.providers.openai_compatible._settings import EndpointSettings, load_settings
from sightline.providers.openai_compatible._source import ChatSource
from sightline.text import clean_text

if TYPE_CHECKING:
    import httpx2

# A proxy from the environment is for the rest of the world.
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_CONNECT_SECONDS, _SILENCE_SECONDS = 10.0, 600.0


class StoredConversation(msgspec.Struct, kw_only=True):
    id: str
    model: str = ""
    messages: list[dict[str, object]] = []


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
        _request.check_options(self._ask.options)
        settings, conversation, client = await asyncio.to_thread(self._prepare)
        async with client:
            await self._converse(client, settings, conversation)

    def _prepare(self) -> "tuple[EndpointSettings, StoredConversation, httpx2.AsyncClient]":
        """All that would hold up the event loop: reading files, importing the client, loading certificates."""
        import httpx2

        settings = load_settings(self._ask)
        resume, new_id = self._ask.resume, f"chat-{secrets.token_hex(8)}"
        conversation = load_conversation(resume) if resume else StoredConversation(id=new_id)
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
        messages = _request.with_prompt(conversation.messages, self._ask)
        payload = _request.encoded(_request.request_body(self._ask, model, messages))
        opening = self.source.turns.begin(conversation.id, model)
        if settings.file_is_open:
            warning = f"others can read {settings.file}, which holds an API key"
            opening.append(Notice(warning, "warning", f"chmod 600 {settings.file}"))
        await self._publish(opening)
        stream = await self._answer(client, settings, payload)
        if not self.raw:
            await self._close(stream.end(), StoredConversation(id=conversation.id, model=model, messages=messages))

    async def _answer(self, client: "httpx2.AsyncClient", settings: EndpointSettings, payload: bytes) -> EventStream:
        """Ask until there is an answer, or no sense in asking again."""
        given = self._ask.options.get("retries")
        retries, attempt = given if isinstance(given, int) else _request.RETRIES, 0
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
        await self._publish([again, Notice(text, "warning", failure.hint)])
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
                "POST", _request.endpoint(settings.base_url), content=payload, headers=_headers(settings)
            ) as response:
                if response.status_code >= 300:
                    body = await _beginning(response)
                    raise refused(settings, response.status_code, response.headers, body, self._now())
                if not is_first:
                    await self._publish([RetryState.over()])
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
            await self._publish(stream.feed(mask.feed(chunk)))
            if self.source.is_done:
                return
        await self._publish(stream.feed(mask.end()))

    async def _publish(self, events: list[Event]) -> None:
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
        """Publish the end of the answer, store the conversation, and then publish the end of the run."""
        await self._publish(closing[:-1])
        last = closing[-1:]
        if self.source.turns.answers and not self.source.turns.failed:
            conversation.messages += _request.reply_messages("".join(self.words), self._calls)
            try:
                await asyncio.to_thread(save_conversation, conversation)
                self.session = conversation.id
            except (OSError, ValueError) as problem:
                text = f"the conversation cannot be stored: {getattr(problem, 'strerror', '') or problem}"
                last.insert(0, Notice(text, "warning", "it cannot be resumed"))
        await self._publish(last)


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


_valid_id = re.compile(r"[A-Za-z0-9_-]{1,64}").fullmatch


def load_conversation(ident: str) -> StoredConversation:
    """The conversation of that id; UserMistake when there is none."""
    if not _valid_id(ident):
        raise UserMistake("that is not the id of a conversation", "use the one from `run_started.session`")
    folder = data_folder() / "chat"
    try:
        return msgspec.json.decode((folder / f"{ident}.json").read_bytes(), type=StoredConversation)
    except FileNotFoundError:
        raise UserMistake(
            f"there is no conversation '{ident}'", f"conversations are stored in {folder}; start a new one"
        ) from None
    except (OSError, ValueError):
        raise OutsideFailure(f"the conversation '{ident}' cannot be read", f"see {folder}; start a new one") from None


def save_conversation(conversation: StoredConversation) -> None:
    """Store it for next time; OSError when that is not possible."""
    folder = data_folder() / "chat"
    private_folder(folder)
    new = folder / f".{conversation.id}.{secrets.token_hex(4)}"
    try:
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(msgspec.json.encode(conversation))
        new.replace(folder / f"{conversation.id}.json")
    except OSError:
        new.unlink(missing_ok=True)
        raise


# Batches the work may be ahead of its reader.
_AHEAD = 32


class ChatRun:
    """A run. `sleep` and `now` are for tests: the wait before a retry, and the time a date is compared with."""

    def __init__(
        self,
        ask: ProviderPrompt,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._ask = ask
        self._work = ChatWork(ask, self._pass_on, sleep=sleep, now=now)
        self._task: asyncio.Task[None] | None = None
        self._cancelled = False
        self._queue: asyncio.Queue[list[Event] | bytes | None] = asyncio.Queue()
        self._room = asyncio.Event()
        self._outcome: ProviderOutcome | None = None

    @property
    def outcome(self) -> ProviderOutcome:
        if self._outcome is None:
            raise RuntimeError("the run has no outcome before its events or its bytes were read to the end")
        return self._outcome

    async def events(self) -> AsyncGenerator[list[Event], None]:
        async for item in self._items():
            if isinstance(item, list):
                yield of_source(ChatSource.provider, item)

    async def raw(self) -> AsyncGenerator[bytes, None]:
        self._work.raw = True
        async for item in self._items():
            if isinstance(item, bytes):
                yield item

    async def cancel(self) -> None:
        """End the run. Returns when its connection is closed."""
        if self._task is None:
            self._cancelled = True
        elif not self._task.done():
            self._cancelled = True
            self._task.cancel()
            await asyncio.wait({self._task})

    async def _items(self) -> AsyncIterator[list[Event] | bytes]:
        task = self._task = asyncio.ensure_future(self._in_time())
        task.add_done_callback(lambda _: self._queue.put_nowait(None))
        if self._cancelled:
            task.cancel()
        try:
            while (item := await self._queue.get()) is not None:
                self._room.set()
                yield item
            if last := self._end(task):
                yield last
        finally:
            task.cancel()
            await asyncio.wait({task})
            if self._outcome is None:
                self._cancelled = True
                self._end(task)

    async def _in_time(self) -> None:
        async with asyncio.timeout(self._ask.timeout):
            await self._work.run()

    async def _pass_on(self, item: list[Event] | bytes) -> None:
        self._queue.put_nowait(item)
        if self._queue.qsize() >= _AHEAD:
            self._room.clear()
            await self._room.wait()

    def _end(self, task: "asyncio.Task[None]") -> list[Event]:
        """Settle the outcome; returns the events that are still to be published."""
        turns = self._work.source.turns
        problem = None if task.cancelled() else task.exception()
        if self._cancelled:
            self._settle(130)
            return turns.stop("cancelled", 130)
        if problem is None:
            self._settle(1 if turns.failed else 0)
            return []
        if isinstance(problem, TimeoutError):
            code, reason = 124, "timeout"
            error = Error(f"no answer within {self._ask.timeout:g} s", "allow more time, or ask for less")
        elif isinstance(problem, SightlineError):
            code, reason = problem.exit_code, "error"
            error = Error(clean_text(problem.message), clean_text(problem.hint))
        else:
            raise problem
        turns.failed = True
        self._settle(code, error)
        closing = turns.stop(reason, code) or [RunEnded(None, None, reason, True, code)]
        return [error, *closing]

    def _settle(self, exit_code: int, error: Error | None = None) -> None:
        lines = [] if error is None else [f"error: {error.text}", f"hint: {error.hint}" if error.hint else ""]
        self._outcome = ProviderOutcome(
            exit_code=exit_code,
            session=self._work.session,
            text="".join(self._work.words),
            stderr="\n".join(lines).strip(),
            timed_out=exit_code == 124,
            cancelled=exit_code == 130,
        )
