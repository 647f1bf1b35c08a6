"""One prompt for another provider's agent without a console: a run of its program, in a session like any other.

Rules:

- The provider's program starts at once; the journal and the socket are opened while it does.
- The reader of the events is a view of the session: everything it gets is in the journal first, without secrets and
  under the session's ids, and it gets all of it (`SessionEvents`). No view slows the run.
- The provider's own lines are forwarded byte for byte.
- Nothing is stored of a program that could not be started: nothing began that could be resumed.
- A new session that cannot be stored is no reason not to run: that is reported, and the reader alone sees the run. Nor
  is a socket that cannot be made: then no other view sees the run while it works.
- A limit that is reached is an error in the session; then the run is cancelled, and has failed.
- An answer that does not fit its schema is sent back once: another run of the provider's, in the same conversation.
- Limits and a schema hold where events are read.
"""

import asyncio
import logging
import os
import time
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

import msgspec

from sightline.actors import Actor
from sightline.agent import level_left
from sightline.events import Error, Event, Notice, StopsAgentsState, Text
from sightline.exceptions import OutsideFailure
from sightline.host.provider._memory import ProviderMemory
from sightline.host.provider._prompt_worker import PromptWorker
from sightline.host.provider._publisher import RunPublisher
from sightline.host.provider._reader_queue import ReaderQueue
from sightline.host.provider._unstored import UnstoredLog
from sightline.host.session._answer_schema import AnswerSchema
from sightline.host.session._life import Journal, open_journal, opened, served
from sightline.host.session._reading import SessionEvents
from sightline.host.session._run_limits import LimitWatch, RunLimits
from sightline.host.session._session import HostSession
from sightline.host.socket._runtime import listen
from sightline.journal import SessionTree, Store
from sightline.providers import (
    CliRun,
    EventStream,
    Provider,
    ProviderOutcome,
    ProviderPrompt,
    ProviderWords,
    Run,
    start_run,
)
from sightline.secrets import Secrets
from sightline.settings import keys_notice, stored_keys
from sightline.text import clean_line, clean_text, cut_graphemes, first_line, without_credentials

T = TypeVar("T")

_TITLE = 80
_ANSWERED = (0, 3)  # exit codes of a run that came to its end


class _Opened(msgspec.Struct, frozen=True):
    """Where the run is published."""

    log: HostSession | UnstoredLog
    publisher: RunPublisher
    memory: ProviderMemory
    worker: PromptWorker | None = None  # None: no view but the reader
    first: int = 0  # the number of the last event before this start
    place: int = 0  # the size of the journal then

    async def send(self) -> None:
        """Have views get what was published."""
        if isinstance(self.log, UnstoredLog):
            await self.log.send()
        else:
            self.log.flush()


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
        self._session = session
        self._schema = schema
        self._watch = LimitWatch(limits or RunLimits(), lambda: self._session)
        self._failure: Error | None = None  # of ours: a limit, or an answer that does not fit
        self._ending: asyncio.Task[None] | None = None  # since a limit was reached
        self._lines: ReaderQueue[bytes] = ReaderQueue()
        self._stopped = self._stopped_between = self._lost_some = False
        self._began = time.monotonic()

    @property
    def outcome(self) -> ProviderOutcome:
        outcome = self._run.outcome
        if self._failure is not None:
            return msgspec.structs.replace(outcome, exit_code=1, cancelled=False, error=self._failure)
        if self._stopped_between:
            return msgspec.structs.replace(outcome, exit_code=130, cancelled=True)
        return msgspec.structs.replace(outcome, exit_code=outcome.exit_code or int(self._lost_some))

    async def cancel(self) -> None:
        self._stopped = True
        self._lines.release()
        await self._run.cancel()

    async def events(self) -> AsyncGenerator[list[Event], None]:
        async with self._opened() as it:
            log = it.log
            reading = log if isinstance(log, UnstoredLog) else SessionEvents(log, it.first, it.place)
            async with aclosing(self._during(self._work(it, reading), reading.batches(), it.worker)) as batches:
                async for batch in batches:
                    yield batch
            self._lost_some = isinstance(reading, SessionEvents) and reading.lost_some

    async def raw(self) -> AsyncGenerator[bytes, None]:
        """Its lines, unread. They are read for the session only: a bug there costs the record, never a line."""
        async with self._opened() as it:
            work = self._pass_lines(it)
            async with aclosing(self._during(work, self._lines.read(), it.worker)) as chunks:
                async for chunk in chunks:
                    yield chunk

    async def _during(
        self, work: Coroutine[None, None, None], items: AsyncGenerator[T, None], worker: PromptWorker | None
    ) -> AsyncGenerator[T, None]:
        """What there is to read while the work is done. No reader, no work: it is ended then."""
        task = asyncio.get_running_loop().create_task(work)
        if worker is not None:
            worker.work = task
        try:
            async with aclosing(items):
                async for item in items:
                    yield item
        finally:
            if not task.done():
                await self.cancel()
            await asyncio.wait([task])
            problem = None if task.cancelled() else task.exception()
        if problem is not None:
            raise problem

    async def _work(self, it: _Opened, reading: SessionEvents | UnstoredLog) -> None:
        try:
            it.publisher.prompt(self._ask.prompt)
            await self._publish_run(it)
            found = self._misfits()
            if found and it.memory.session:
                await self._send_back(found, it)
                await self._publish_run(it)
                found = self._misfits()
            if found and self._schema is not None:
                self._failure = self._schema.failure(found)
                it.publisher.report(self._failure)
        finally:
            await it.send()
            reading.end()

    async def _publish_run(self, it: _Opened) -> None:
        translation = it.publisher.begin(self._ask.prompt)
        await it.send()
        try:
            async with aclosing(self._run.events()) as batches:
                async for batch in batches:
                    translation.publish(batch)
                    await it.send()
        finally:
            if self._ending is not None:
                await self._ending
            it.publisher.end(self._run.outcome)

    async def _pass_lines(self, it: _Opened) -> None:
        try:
            it.publisher.prompt(self._ask.prompt)
            await self._pass_run(it)
        finally:
            it.log.flush()
            self._lines.end()

    async def _pass_run(self, it: _Opened) -> None:
        translation, words = it.publisher.begin(self._ask.prompt), ProviderWords()
        stream: EventStream | None = None
        with _reported():
            if self._provider.source is not None and isinstance(it.log, HostSession):
                stream = EventStream(self._provider.source())

        def publish(events: list[Event]) -> None:
            for event in events:
                if isinstance(event, Text):
                    words.add(event)  # a run whose lines pass unread has none of its own
            translation.publish(events)
            it.log.flush()

        try:
            async with aclosing(self._run.raw()) as chunks:
                async for chunk in chunks:
                    with _reported():
                        publish(stream.feed(chunk) if stream is not None else [])
                    await self._lines.put(chunk)
            with _reported():
                publish(stream.end() if stream is not None else [])
        finally:
            it.publisher.end(msgspec.structs.replace(self._run.outcome, text=words.text))

    def _misfits(self) -> list[str]:
        """What is wrong with the answer of a run that came to its end."""
        if self._schema is None or self._failure is not None or self._run.outcome.exit_code not in _ANSWERED:
            return []
        found = self._schema.problems()
        self._stopped_between = self._stopped and bool(found)
        return [] if self._stopped else found

    async def _send_back(self, found: list[str], it: _Opened) -> None:
        """Begin the run that corrects the answer."""
        assert self._schema is not None
        left = self._ask.timeout
        if left is not None:
            left = max(0.1, left - (time.monotonic() - self._began))
        text = self._schema.repair(found)
        self._ask = msgspec.structs.replace(self._ask, prompt=text, resume=it.memory.session, timeout=left)
        it.publisher.prompt(text, source="schema")
        self._run = start_run(self._provider, self._ask)

    def _see(self, publisher: RunPublisher, event: Event) -> None:
        """Each event of the session, as it is published."""
        if self._schema is not None:
            self._schema.see(event)
        problem = self._watch.see_turn(event) or self._watch.see(event)
        if problem is not None:
            self._failure = problem
            self._ending = asyncio.get_running_loop().create_task(self._run.cancel())
            publisher.report(problem)

    # Where it is published

    @asynccontextmanager
    async def _opened(self) -> AsyncIterator[_Opened]:
        secrets = Secrets(dict(os.environ), stored_keys())
        title = clean_line(first_line(clean_text(secrets.masked(self._ask.prompt))))
        title, cwd = without_credentials(cut_graphemes(title, _TITLE)), os.getcwd()
        try:
            if isinstance(self._run, CliRun) and not self._run.is_started:
                yield self._unstored(UnstoredLog(), secrets)
                return
            journal = self._journal(title, cwd)
            if isinstance(journal, OutsideFailure):
                log = UnstoredLog()
                text = f"this conversation is not stored: {journal.message}"
                Actor(log, "sightline", secrets).publish(Notice(text, "warning", journal.hint))
                yield self._unstored(log, secrets)
                return
            async with opened(self._store, journal) as session:
                it = self._stored(session, journal[1], secrets)
                async with _served(session, cwd):
                    yield it
        finally:
            await self._run.cancel()  # whatever went wrong before it was read

    def _journal(self, title: str, cwd: str) -> Journal | OutsideFailure:
        try:
            return open_journal(self._store, cwd=cwd, resume=self._session, title=title, provider=self._provider.name)
        except OutsideFailure as problem:
            return problem

    def _stored(self, session: HostSession, tree: SessionTree, secrets: Secrets) -> _Opened:
        self._session = session.id
        first, place = session.seq, (session.folder / "journal.jsonl").stat().st_size
        memory = ProviderMemory(session, tree, self._provider.name)
        memory.repair()
        if (taken_over := memory.take_over()) is not None:
            session.actor("sightline").publish(taken_over)
        level = self._ask.approval
        if level != "auto" and level_left(tree) != level:
            memory.chose_level(level)
        session.worker = worker = PromptWorker(session, self._provider, level, secrets, self.cancel)
        return _Opened(session, self._publisher(session, memory, secrets), memory, worker, first, place)

    def _unstored(self, log: UnstoredLog, secrets: Secrets) -> _Opened:
        memory = ProviderMemory(log, SessionTree(Path(os.devnull)), self._provider.name)
        return _Opened(log, self._publisher(log, memory, secrets), memory)

    def _publisher(self, log: HostSession | UnstoredLog, memory: ProviderMemory, secrets: Secrets) -> RunPublisher:
        if self._ask.resume:
            memory.session = self._ask.resume
        actor = Actor(log, self._provider.name, secrets)
        publisher = RunPublisher(actor, memory, model=clean_line(self._ask.model), cwd=os.getcwd())
        log.on_published = partial(self._see, publisher)
        publisher.publish_facts(self._provider.name, steers=False)
        actor.publish(StopsAgentsState(False).as_state())
        if (unread := keys_notice()) is not None:
            actor.observed_by("settings").publish(unread)
        return publisher


@asynccontextmanager
async def _served(session: HostSession, cwd: str) -> AsyncIterator[None]:
    """Let other views find it, if that is possible."""
    try:
        listener = listen(session.id)
    except OutsideFailure as problem:
        text = f"no other view can watch this run: {problem.message}"
        session.actor("host").publish(Notice(clean_text(text), "warning", problem.hint))
        yield
        return
    async with served(session, cwd=cwd, listener=listener):
        yield


@contextmanager
def _reported() -> Iterator[None]:
    try:
        yield
    except Exception:
        logging.getLogger("sightline").debug("a line could not be read for the record", exc_info=True)
