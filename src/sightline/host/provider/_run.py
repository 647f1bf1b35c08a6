"""One prompt for another provider's agent without a console: its own run, recorded in a session like any other.

Rules:

- The reader gets the events of the provider's run, masked, under the provider's ids. The session has them masked and
  under its own ids, so that it is listed, found and resumed from anywhere.
- The provider's own lines are forwarded byte for byte.
- The provider's program starts at once; the journal is opened while it does.
- A batch is in the journal before the reader gets it.
- A new session that cannot be stored is no reason not to run: that is reported, and the run goes unrecorded.
- A limit that is reached is an error in the session; then the run is cancelled, and has failed.
- An answer that does not fit its schema is sent back once: another run of the provider's, in the same conversation.
- Limits and a schema hold where events are read.
"""

import asyncio
import logging
import os
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager

import msgspec

from sightline.agent import level_left
from sightline.events import Error, Event, Notice, RunEnded, RunStarted, Text, User
from sightline.events.stamping import of_source
from sightline.exceptions import OutsideFailure, UserMistake
from sightline.host.provider._events import Translation
from sightline.host.provider._memory import ProviderMemory
from sightline.host.session._answer_schema import AnswerSchema
from sightline.host.session._life import open_journal, opened
from sightline.host.session._run_limits import LimitWatch, RunLimits
from sightline.host.session._session import HostSession
from sightline.journal import Store
from sightline.providers import (
    EventStream,
    Provider,
    ProviderOutcome,
    ProviderPrompt,
    ProviderWords,
    Run,
    start_run,
)
from sightline.secrets import MaskedEvents, Secrets
from sightline.settings import keys_notice, stored_keys
from sightline.text import clean_line, clean_text, cut_graphemes, first_line, without_credentials

_TITLE = 80
_ANSWERED = (0, 3)  # exit codes of a run that came to its end


class ProviderRun:
    """Read its events, or its own lines, to the end; then there is an outcome."""

    def __init__(
        self,
        store: Store,
        provider: Provider,
        ask: ProviderPrompt,
        run: Run,
        *,
        session: str = "",
        limits: RunLimits | None = None,
        schema: AnswerSchema | None = None,
    ) -> None:
        """`run`: of this ask, started already; its prompt has the `schema`. `session`: one of ours that is resumed."""
        self._store = store
        self._provider = provider
        self._ask = ask
        self._run = run
        self._resume = session
        self._schema = schema
        self._watch = LimitWatch(limits or RunLimits(), lambda: self.session)
        self._failure: Error | None = None  # of ours: a limit, or an answer that does not fit
        self._stopping: asyncio.Task[None] | None = None
        self._native = ask.resume  # the provider's id of the conversation
        self._began = time.monotonic()
        self.session = session  # our id; empty: none was stored (yet)

    @property
    def outcome(self) -> ProviderOutcome:
        outcome = self._run.outcome
        if self._failure is None:
            return outcome
        return msgspec.structs.replace(outcome, exit_code=1, cancelled=False, error=self._failure)

    async def cancel(self) -> None:
        await self._run.cancel()

    async def events(self) -> AsyncGenerator[list[Event], None]:
        secrets = _known_secrets()
        async with self._recorded(secrets) as (recording, first):
            async with aclosing(self._shown(secrets, recording, first)) as batches:
                async for batch in batches:
                    yield batch
            if (found := self._misfits()) and self._native:
                prompt = self._send_back(found, recording)
                async with aclosing(self._shown(secrets, recording, prompt)) as batches:
                    async for batch in batches:
                        yield batch
                found = self._misfits()
            if found and self._schema is not None:
                self._failure = self._schema.failure(found)
                yield self._reported_failure(self._failure, recording)

    async def _shown(
        self, secrets: Secrets, recording: "_Recording | None", before: list[Event]
    ) -> AsyncGenerator[list[Event], None]:
        """The events of the current run, recorded and masked, after those that came before it."""
        shown = MaskedEvents(secrets)
        try:
            async with aclosing(self._run.events()) as batches:
                if before:
                    yield [msgspec.structs.replace(event, seq=0) for event in before]
                async for batch in batches:
                    if recording is not None:  # the session numbers its own copies
                        recording.add([msgspec.structs.replace(event) for event in batch])
                    if masked := shown.mask(batch):
                        yield [*masked, *self._checked(masked, recording)]
                if rest := shown.end():
                    yield [*rest, *self._checked(rest, recording)]
        finally:
            if self._stopping is not None:
                await self._stopping

    def _checked(self, events: list[Event], recording: "_Recording | None") -> list[Event]:
        """The error, when a limit is reached with these events."""
        for event in events:
            if isinstance(event, RunStarted) and not event.agent and event.session:
                self._native = event.session
            if self._schema is not None:
                self._schema.see(event)
            problem = self._watch.see_turn(event) or self._watch.see(event)
            if problem is not None:
                self._failure = problem
                self._stopping = asyncio.get_running_loop().create_task(self._run.cancel())
                return self._reported_failure(problem, recording)
        return []

    def _misfits(self) -> list[str]:
        """What is wrong with the answer of a run that came to its end."""
        if self._schema is None or self._failure is not None or self._run.outcome.exit_code not in _ANSWERED:
            return []
        return self._schema.problems()

    def _send_back(self, found: list[str], recording: "_Recording | None") -> list[Event]:
        """Begin the run that corrects the answer. Returns its prompt, for the reader."""
        assert self._schema is not None
        text = self._schema.repair(found)
        left = self._ask.timeout
        if left is not None:
            left = max(0.1, left - (time.monotonic() - self._began))
        self._ask = msgspec.structs.replace(self._ask, prompt=text, resume=self._native, timeout=left)
        if recording is not None:
            recording.end(self._run)
            recording.begin(clean_text(text), "schema")
        self._run = start_run(self._provider, self._ask)
        prompt: Event = User(clean_text(text), [], "prompt")
        self._schema.see(prompt)
        return of_source("schema", [prompt])

    def _reported_failure(self, problem: Error, recording: "_Recording | None") -> list[Event]:
        if recording is not None:
            recording.report(Error(problem.text, problem.hint))
        return of_source("sightline", [Error(clean_text(problem.text), problem.hint)])

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
    """A run in a session, and the one that corrects its answer."""

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
        if ask.resume:
            memory.session = ask.resume
        self.begin(prompt, "person")

    def begin(self, prompt: str, source: str) -> None:
        self._words = ProviderWords()  # a run whose lines pass unread has none of its own
        self._actor.observed_by(source).publish(User(prompt, [], "prompt"))
        self._memory.prompted(prompt)
        self._actor.publish(RunStarted(clean_line(self._memory.session), self._model, clean_line(os.getcwd())))
        self._translation = Translation(self._actor, prompt, self._on_run, is_running=True)

    def add(self, events: list[Event]) -> None:
        for event in events:
            if isinstance(event, Text):
                self._words.add(event)
        self._translation.publish(events)
        self._session.flush()

    def report(self, problem: Error) -> None:
        self._actor.observed_by("sightline").publish(problem)
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
