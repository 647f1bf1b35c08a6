"""One prompt for another provider's agent without a console: its own run, recorded in a session like any other.

Rules:

- The reader gets the events of the provider's run, masked, under the provider's ids. The session has them masked and
  under its own ids, so that it is listed, found and resumed from anywhere.
- The provider's own lines are forwarded byte for byte.
- The provider's program starts at once; the journal is opened while it does.
- A batch is in the journal before the reader gets it.
- A new session that cannot be stored is no reason not to run: that is reported, and the run goes unrecorded.
"""

import logging
import os
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager

import msgspec

from sightline.agent import level_left
from sightline.events import Event, Notice, RunEnded, RunStarted, Text, User
from sightline.events.stamping import of_source
from sightline.exceptions import OutsideFailure, UserMistake
from sightline.host.provider._events import Translation
from sightline.host.provider._memory import ProviderMemory
from sightline.host.session._life import open_journal, opened
from sightline.host.session._session import HostSession
from sightline.journal import Store
from sightline.providers import (
    EventStream,
    Provider,
    ProviderOutcome,
    ProviderPrompt,
    ProviderWords,
    Run,
)
from sightline.secrets import MaskedEvents, Secrets
from sightline.settings import keys_notice, stored_keys
from sightline.text import clean_line, clean_text, cut_graphemes, first_line, without_credentials

_TITLE = 80


class ProviderRun:
    """Read its events, or its own lines, to the end; then there is an outcome."""

    def __init__(self, store: Store, provider: Provider, ask: ProviderPrompt, run: Run, *, session: str = "") -> None:
        """`run`: of this ask, started already. `session`: one of ours that is resumed."""
        self._store = store
        self._provider = provider
        self._ask = ask
        self._run = run
        self._resume = session
        self.session = session  # our id; empty: none was stored (yet)

    @property
    def outcome(self) -> ProviderOutcome:
        return self._run.outcome

    async def cancel(self) -> None:
        await self._run.cancel()

    async def events(self) -> AsyncGenerator[list[Event], None]:
        secrets = _known_secrets()
        shown = MaskedEvents(secrets)
        async with self._recorded(secrets) as (recording, first), aclosing(self._run.events()) as batches:
            if first:
                yield [msgspec.structs.replace(event, seq=0) for event in first]
            async for batch in batches:
                if recording is not None:  # the session numbers its own copies
                    recording.add([msgspec.structs.replace(event) for event in batch])
                if masked := shown.mask(batch):
                    yield masked
            if rest := shown.end():
                yield rest

    async def raw(self) -> AsyncGenerator[bytes, None]:
        """Its lines, unread. They are read for the record only: a bug there costs the record, never a line."""
        async with self._recorded(_known_secrets()) as (recording, _), aclosing(self._run.raw()) as chunks:
            stream: EventStream | None = None
            with _reported():
                if recording is not None and self._provider.source is not None:
                    stream = EventStream(self._provider.source())
            async for chunk in chunks:
                with _reported():
                    if recording is not None and stream is not None:
                        recording.add(stream.feed(chunk))
                yield chunk
            with _reported():
                if recording is not None and stream is not None:
                    recording.add(stream.end())

    @asynccontextmanager
    async def _recorded(self, secrets: Secrets) -> AsyncIterator[tuple["_Recording | None", list[Event]]]:
        """The recording, if it can be stored; and what the reader gets before the run's own events."""
        prompt = clean_text(secrets.masked(self._ask.prompt))
        title = without_credentials(cut_graphemes(clean_line(first_line(prompt)), _TITLE))
        try:
            journal = open_journal(
                self._store, cwd=os.getcwd(), resume=self._resume, title=title, provider=self._provider.name
            )
        except UserMistake:
            await self._run.cancel()
            raise
        except OutsideFailure as problem:
            text = f"this conversation is not stored: {problem.message}"
            yield None, of_source("sightline", [Notice(clean_text(text), "warning", problem.hint)])
            return
        async with opened(self._store, journal) as session:
            self.session = session.id
            memory = ProviderMemory(session, journal[1], self._provider.name)
            memory.repair()
            changed = memory.take_over()
            if (unread := keys_notice()) is not None:
                session.actor("settings").publish(unread)
                changed += of_source("settings", [unread])
            if self._ask.approval != "auto" and level_left(journal[1]) != self._ask.approval:
                memory.chose_level(self._ask.approval)
            recording = _Recording(session, memory, secrets, self._provider.name, prompt, self._ask)
            try:
                yield recording, changed
            finally:
                recording.end(self._run)


def _known_secrets() -> Secrets:
    return Secrets(dict(os.environ), stored_keys())


@contextmanager
def _reported() -> Iterator[None]:
    try:
        yield
    except Exception:
        logging.getLogger("sightline").debug("a line could not be read for the record", exc_info=True)


class _Recording:
    """One run in a session."""

    def __init__(
        self,
        session: HostSession,
        memory: ProviderMemory,
        secrets: Secrets,
        provider: str,
        prompt: str,
        ask: ProviderPrompt,
    ) -> None:
        self._session = session
        self._actor = session.actor(provider, secrets)
        self._memory = memory
        self._secrets = secrets
        self._model = clean_line(ask.model)
        self._words = ProviderWords()  # a run whose lines pass unread has none of its own
        if ask.resume:
            memory.session = ask.resume
        self._actor.observed_by("person").publish(User(prompt, [], "prompt"))
        memory.prompted(prompt)
        self._actor.publish(RunStarted(clean_line(memory.session), self._model, clean_line(os.getcwd())))
        self._translation = Translation(self._actor, prompt, self._on_run, is_running=True)

    def add(self, events: list[Event]) -> None:
        for event in events:
            if isinstance(event, Text):
                self._words.add(event)
        self._translation.publish(events)
        self._session.flush()

    def end(self, run: Run) -> None:
        self._translation.close()
        outcome = run.outcome
        if self._translation.is_running:
            failed = outcome.error is not None
            reason = "cancelled" if outcome.cancelled else "timeout" if outcome.timed_out else ""
            self._actor.publish(RunEnded(None, None, reason, failed, outcome.native_exit_code))
        self._memory.answered(
            self._secrets.masked(outcome.text or self._words.text),
            self._actor.name(self._model),
            cancelled=outcome.cancelled,
            error=self._secrets.masked(outcome.error.text) if outcome.error is not None else "",
        )
        self._memory.note()

    def _on_run(self, event: RunStarted) -> None:
        self._model = event.model or self._model
        if event.session and event.session != self._memory.session:
            self._memory.session = event.session
            self._memory.note()
