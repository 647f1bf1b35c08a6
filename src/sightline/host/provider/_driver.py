"""Another provider's program as an agent of a session: what it does appears under the agent's path, live.

Rules:

- A task, a message and the user's words are prompts of one conversation of the program's own, one after the other. What
  comes during a run waits for its end, unless the program takes it at once.
- The first prompt of that conversation has the instructions of the definition before it: the program reads no other.
  That of a step of a flow is the flow's, and nothing else.
- What came of a task is what it wrote after its last call. What it writes about a message is sent to who wrote that: it
  has no `irc` of its own.
- It has the level it was given, and never a wider one than the agent it works for: that is looked up with each prompt,
  and what is open under a wider one is ended as soon as there is no run. So it is when it may not work at all any more.
- A program that continues by itself is shown doing so, in a run without a prompt.
- A request of it while no user is there to answer is refused.
- Stopping ends its whole tree of processes; so does the end of the session.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from contextlib import aclosing

import msgspec
from msgspec.structs import replace

from sightline.actors import Actor
from sightline.agent import LEVELS
from sightline.delegation import DriverOutcome, Member, ProgramStart
from sightline.events import (
    Error,
    Event,
    Notice,
    QueuedMessage,
    QueueState,
    Request,
    RunEnded,
    RunStarted,
    State,
    Text,
    ToolUse,
    User,
)
from sightline.exceptions import SightlineError, UserMistake
from sightline.host.provider._answer import masked_answer
from sightline.host.provider._connection import ProviderConnection
from sightline.host.provider._events import Translation
from sightline.host.provider._levels import allows_less
from sightline.models import load_recording
from sightline.providers import (
    REFUSED_EXIT_CODE,
    Approval,
    Provider,
    ProviderOutcome,
    ProviderPrompt,
    Run,
    get_provider,
    provider_names,
    recorded,
)
from sightline.text import clean_line, clean_text

_SHOWN = 2000  # characters of what waits
_END_OF_WORDS = 250_000  # characters: of last words that are longer than two of these, both ends
_HAND_BACK = """\
You work for another agent, which gave you a task. It sees nothing of what you do but your last message: when you are \
done, write the whole result there. Do not ask back where you can decide. Other agents may work in the same folder: a \
change you did not make may be theirs."""
_REFUSAL = {"choice": "no", "reason": "no user is there to ask", "chosen": [], "text": ""}


def open_other(member: Member, start: ProgramStart) -> "ProviderDriver":
    """The driver of an agent that is a program of its own: that of the provider its definition names, or ours."""
    assert member.actor is not None
    definition = member.record.definition
    if start.own is not None:
        from sightline.host.isolated._channel import isolated_provider

        return ProviderDriver(member, isolated_provider(start.own), start)
    try:
        provider = get_provider(definition.provider)
    except KeyError:
        raise UserMistake(f"no provider {definition.provider}", f"one of {', '.join(provider_names())}") from None
    return ProviderDriver(member, _recorded_or_real(member, provider, start.script), start)


def _recorded_or_real(member: Member, provider: Provider, script: str) -> Provider:
    """`script`: where a recording may be that it plays. What began with one stays one."""
    recording = load_recording(script) if script else None
    if recording is None:
        if member.record.script:
            raise UserMistake(f"the recording that {member.id} plays is gone: {script}", "start another agent")
        return provider
    if member.record.script != script:
        member.store(replace(member.record, script=script))
    return recorded(provider, recording.data, recording.delay)


class _Prompt(msgspec.Struct, frozen=True):
    """What it is to read next, or a run that it began by itself."""

    text: str = ""
    run: Run | None = None
    origin: str = ""  # empty: the user
    mail: str = ""  # the id of the message that it is
    unless: Callable[[], bool] | None = None
    on_read: Callable[[], object] | None = None
    on_answer: Callable[[str], object] | None = None
    on_dropped: Callable[[], object] | None = None


class ProviderDriver:
    """One conversation with another program."""

    def __init__(self, member: Member, provider: Provider, start: ProgramStart) -> None:
        assert member.actor is not None
        self._member = member
        self._provider = provider
        self._level = start.level
        self._actor: Actor = member.actor.observed_by(provider.name)
        self._secrets = self._actor.secrets
        self._ask = ProviderPrompt(
            prompt="",
            model=start.model,
            cwd=start.cwd,
            approval=self._allowed(),
            options=member.options,
            entering=start.entering,
        )
        self._connection = ProviderConnection(self._actor, provider, self._ask, self._follow)
        self._waiting: deque[_Prompt] = deque()
        self._steering = asyncio.Lock()
        self._published_queue = QueueState([])
        self._run: Run | None = None
        self._translation: Translation | None = None
        self._model = self._ask.model
        self._busy = self._stopped = self._refused = False
        self._reason = ""
        self._ending: set[asyncio.Task[object]] = set()

    @property
    def busy(self) -> bool:
        return self._busy

    @property
    def model(self) -> str:
        return self._model or self._provider.title

    async def run(
        self,
        text: str,
        *,
        origin: str,
        force_tool: str = "",
        mail: str = "",
        on_dropped: Callable[[], object] | None = None,
    ) -> DriverOutcome:
        self._busy, self._stopped, self._reason = True, False, ""
        try:
            outcome = await self._one(_Prompt(text, origin=origin, mail=mail)) if text else DriverOutcome()
            while (waiting := await self._next()) is not None:
                later = await self._one(waiting)
                if waiting.on_answer is not None:
                    waiting.on_answer(later.text or later.failure)
                if waiting.on_answer is None or later.stopped:  # what it answers another agent is no result of its task
                    outcome = replace(later, text=later.text or outcome.text)
            await self._end_wider()
            return outcome
        finally:
            self._busy = False
            self._publish_queue()

    async def prompt(self, text: str, *, how: str, mail: str, on_dropped: Callable[[], object]) -> None:
        async with self._steering:
            translation = self._translation
            if how == "steer" and translation is not None and await self._connection.steer(text):
                translation.add_user_message(User(clean_text(self._secrets.masked(text)), [], "steer", mail=mail))
            else:
                self._waiting.append(_Prompt(text, mail=mail, on_dropped=on_dropped))
            self._publish_queue()

    def inform(
        self,
        text: str,
        *,
        mail: str,
        unless: Callable[[], bool],
        on_read: Callable[[], object],
        on_answer: Callable[[str], object],
    ) -> None:
        self._waiting.append(_Prompt(text, None, "irc", mail, unless, on_read, on_answer))

    def stop(self, reason: str) -> None:
        self._stopped, self._reason = True, reason
        for waiting in self._waiting:
            if waiting.run is not None:
                self._begin(waiting.run.cancel())
        self._drop_waiting()
        self._cancel_run()

    def answer(self, request: str, answer: object) -> bool:
        native = self._translation.native_request(request) if self._translation is not None else ""
        return bool(native) and self._connection.answer(native, answer)

    def cancel_call(self, id: str) -> bool:
        """A call of the program cannot be ended alone; one that runs an agent can, where the program offers that."""
        path = self._translation.native_agent(id) if self._translation is not None else ""
        if not path or not self._connection.stops_agents:
            return False
        self._begin(self._connection.stop_agent(path))
        return True

    def give_up(self) -> bool:
        translation = self._translation
        refused = [self.answer(request, _REFUSAL) for request in translation.open_requests] if translation else []
        self._refused |= any(refused)
        return any(refused)

    def level_changed(self) -> None:
        if not self._busy:
            self._begin(self._end_wider())

    async def close(self) -> None:
        self._drop_waiting()
        await self._connection.close()
        if self._ending:
            await asyncio.wait(list(self._ending))

    def _drop_waiting(self) -> None:
        waiting, self._waiting = self._waiting, deque()
        for prompt in waiting:
            if prompt.on_dropped is not None:
                prompt.on_dropped()

    def _allowed(self) -> Approval:
        """The level of the next prompt; where the program does not have it, the next lower one that it has."""
        level = self._level()
        for known in sorted(self._provider.levels, key=LEVELS.index, reverse=True):
            if not allows_less(level, known):
                return known
        raise UserMistake(f"{self._provider.title} has no approval level {level}, nor a lower one", "use another agent")

    # Runs

    async def _next(self) -> _Prompt | None:
        """What waits, once it is known whether the last run took it."""
        async with self._steering:
            while self._waiting and not self._stopped:
                waiting = self._waiting.popleft()
                if waiting.unless is None or not waiting.unless():
                    self._publish_queue()
                    if waiting.on_read is not None:
                        waiting.on_read()
                    return waiting
            return None

    async def _one(self, prompt: _Prompt) -> DriverOutcome:
        sent = ""
        if prompt.run is None:
            sent = self._with_instructions(prompt.text)
            shown = clean_text(self._secrets.masked(prompt.text))
            self._actor.observed_by(prompt.origin or "person").publish(User(shown, [], "prompt", mail=prompt.mail))
        session = self._member.record.provider_session
        self._actor.publish(RunStarted(clean_line(session), clean_line(self._model), clean_line(self._ask.cwd)))
        translation = self._translation = Translation(self._actor, clean_text(sent), self._on_run, is_running=True)
        outcome: ProviderOutcome | None = None
        problem: Error | None = None
        words = _LastWords()
        self._refused = False
        try:
            self._run = prompt.run or await self._begun(replace(self._ask, prompt=sent, resume=session))
            if self._run is not None:
                outcome = await self._read(self._run, translation, words)
        except SightlineError as error:
            problem = Error(error.message, error.hint)
        except Exception as error:
            what = clean_line(f"the run broke off: {type(error).__name__}: {error} (this is a bug in sightline)")
            problem = Error(what, "send it again")
        finally:
            self._run = self._translation = None
            translation.close()
            if problem is not None:
                self._actor.publish(problem)
            if translation.is_running:
                self._actor.publish(RunEnded(None, None, "cancelled" if self._stopped else "", problem is not None))
        return self._outcome(outcome, problem, words.text)

    async def _begun(self, ask: ProviderPrompt) -> Run | None:
        self._take_level()
        run = await self._connection.begin(replace(ask, approval=self._ask.approval))
        if run is not None:  # it may be one that it began by itself just before
            self._waiting = deque(waiting for waiting in self._waiting if waiting.run is not run)
        return run

    def _follow(self, run: Run) -> bool:
        """It continues by itself, since something it had left running has ended."""
        if self._busy and not self._stopped:
            self._waiting.appendleft(_Prompt(run=run))
            return True
        if self._busy or not self._member.may_continue():
            return False
        self._waiting.appendleft(_Prompt(run=run))
        return True

    async def _read(self, run: Run, translation: Translation, words: "_LastWords") -> ProviderOutcome:
        if self._stopped:  # while it was begun
            self._cancel_run()
        async with aclosing(run.events()) as batches:
            async for events in batches:
                for event in events:
                    words.see(event)
                translation.publish([event for event in events if not _is_of_session(event)])
                self._refuse_unattended(events)
                self._publish_queue()
        return run.outcome

    def _with_instructions(self, text: str) -> str:
        """A prompt with what the program has to know before it, if it is the first one."""
        record = self._member.record
        if record.provider_session or record.is_step:
            return text
        context = f"<context>\n{record.context}\n</context>" if record.context else ""
        return "\n\n".join(part for part in (record.definition.prompt.strip(), _HAND_BACK, context, text) if part)

    def _take_level(self) -> None:
        """What it may do from now on."""
        level = self._allowed()
        if level != self._ask.approval:
            lowered = allows_less(level, self._ask.approval)
            self._ask = replace(self._ask, approval=level)
            self._connection.renew(at_once=lowered)

    async def _end_wider(self) -> None:
        """There is no run: nothing may continue under a level that allows more than it may do now."""
        try:
            self._take_level()
            await self._connection.drop_lowered(self._ask)
        except UserMistake:  # it has no such level: its next prompt fails with that
            await self._connection.close()

    def _refuse_unattended(self, events: list[Event]) -> None:
        requests = [event for event in events if isinstance(event, Request)]
        if requests and not self._actor.log.has_answers:
            for event in requests:
                what = clean_line(self._secrets.masked(event.text))
                self._actor.publish(Notice(f"refused: {what}", "warning", "no user is there to ask"))
            self.give_up()

    def _cancel_run(self) -> None:
        """Beside the reading of its events: one whose events are not read would not end."""
        if self._run is None:
            self._connection.cut()
        else:
            self._begin(self._run.cancel())

    def _begin(self, work: Coroutine[object, object, object]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    def _outcome(self, outcome: ProviderOutcome | None, problem: Error | None, words: str) -> DriverOutcome:
        error = problem or (outcome.error if outcome is not None else None)
        answer = masked_answer(outcome, self._secrets) if outcome is not None else ""
        text = self._secrets.masked(words) or answer
        stopped = self._reason or "cancelled" if self._stopped or (outcome is not None and outcome.cancelled) else ""
        refused = self._refused or (outcome is not None and outcome.exit_code == REFUSED_EXIT_CODE)
        failed = error if error is not None and not stopped else Error("")
        return DriverOutcome(
            text=text,
            words=answer or text,
            error=self._secrets.masked(failed.text),
            hint=self._secrets.masked(failed.hint),
            stopped=stopped,
            is_refused=refused,
        )

    def _on_run(self, event: RunStarted) -> None:
        if event.session and event.session != self._member.record.provider_session:
            self._member.store(replace(self._member.record, provider_session=clean_line(event.session)))
        if event.model:
            self._model = clean_line(event.model)
            self._member.publish()

    def _publish_queue(self) -> None:
        """The user's words that it has not been given yet."""
        steering = [] if self._translation is None else self._translation.waiting
        waiting = [QueuedMessage(user.text[:_SHOWN], "steer") for user in steering]
        waiting += [
            QueuedMessage(self._secrets.masked(prompt.text)[:_SHOWN], "follow_up")
            for prompt in self._waiting
            if prompt.run is None and not prompt.origin
        ]
        if (queue := QueueState(waiting)) != self._published_queue:
            self._published_queue = queue
            self._actor.publish(queue.as_state())


class _LastWords:
    """What the program itself wrote after its last call, or where there is nothing after that, before it: each block on
    a line of its own. Of much only the two ends are held; all of it is in the events of the session."""

    def __init__(self) -> None:
        self._over = False
        self._clear()

    def _clear(self) -> None:
        self._head, self._parts, self._size, self._left_out = "", [""], 0, 0
        self._block: int | None = None

    def see(self, event: Event) -> None:
        if event.agent:
            return
        if isinstance(event, ToolUse):
            self._over = True
        elif isinstance(event, Text) and event.text:
            if self._over:
                self._over = False
                self._clear()
            if self._block not in (None, event.block) and not self._parts[-1].endswith("\n"):
                self._add("\n")
            self._block = event.block
            self._add(event.text)

    def _add(self, text: str) -> None:
        self._parts.append(text)
        self._size += len(text)
        if self._size > 4 * _END_OF_WORDS:  # seldom: what is joined here is as long as what came since the last time
            self._cut()

    def _cut(self) -> None:
        joined = "".join(self._parts)
        if not self._head:
            self._head, joined = joined[:_END_OF_WORDS], joined[_END_OF_WORDS:]
        tail = joined[-_END_OF_WORDS:]
        self._left_out += len(joined) - len(tail)
        self._parts, self._size = [tail], len(tail)

    @property
    def text(self) -> str:
        if self._head or self._size > 2 * _END_OF_WORDS:
            self._cut()
        if not self._left_out:
            return self._head + "".join(self._parts)
        return f"{self._head}\n[… {self._left_out:,} characters are left out …]\n{''.join(self._parts)}"


def _is_of_session(event: Event) -> bool:
    """A fact about a session of the program itself, not about the one in which it is an agent."""
    return isinstance(event, State) and event.key in ("approval", "provider", "steering", "stops_agents")
