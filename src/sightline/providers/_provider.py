"""What the rest of the program knows about a provider, and what it asks of one."""

from collections import deque
from collections.abc import AsyncGenerator, Callable
from importlib import import_module
from typing import Literal, Protocol, runtime_checkable

import msgspec

from sightline.events import CallEnding, Error, Event, RunEnded, Text, ToolResult, call_ending
from sightline.exceptions import OutsideFailure
from sightline.providers._source import DisplayEventSource, ProviderSource

# auto: the provider's own behaviour. The others go from asking for everything to allowing everything, and are only
# ever used when the user chose them.
Approval = Literal["auto", "plan", "edit", "full"]
APPROVALS: tuple[Approval, ...] = ("auto", "plan", "edit", "full")


class ProviderPrompt(msgspec.Struct, frozen=True, kw_only=True):
    """One prompt for one provider."""

    prompt: str
    model: str = ""
    resume: str = ""  # a session id of the provider's own, from `run_started.session`
    approval: Approval = "auto"
    cwd: str = ""
    timeout: float | None = None
    env: dict[str, str] = {}  # added to the environment of the run
    options: dict[str, object] = {}  # the provider's own
    raw: bool = False  # the provider's own lines are read, not events
    entering: tuple[str, ...] = ()  # words before its command line: it is started in a working copy


class ProviderOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """How a run ended. `exit_code` follows the program's rule: 0 done, 1 failed, 2 an unsupported request, 3
    something was refused for want of permission, 124 timeout, 130 cancelled."""

    exit_code: int
    session: str = ""
    text: str = ""  # the words of the root agent, each block of them on a line of its own
    left_out: int = 0  # characters before them that are not held
    native_exit_code: int | None = None
    stderr: str = ""  # the end of what it wrote there
    timed_out: bool = False
    cancelled: bool = False
    error: Error | None = None  # why it failed; also published as an event


class Run(Protocol):
    """One prompt being worked on. Read either its events or its raw bytes, to the end; then there is an outcome."""

    def events(self) -> AsyncGenerator[list[Event], None]: ...

    def raw(self) -> AsyncGenerator[bytes, None]: ...

    async def cancel(self) -> None: ...

    @property
    def outcome(self) -> ProviderOutcome: ...


class Unreachable(OutsideFailure):
    """A provider's channel cannot be opened here. Nothing was sent to it: the prompt can go another way."""


class NotInstalled(Unreachable):
    """There is no such program here: a run of its own explains it best."""


class Channel(Protocol):
    """A conversation with a provider that stays open from prompt to prompt, and takes answers meanwhile.

    Its runs publish what their provider's commands print as they print it (`tool_output`), and requests. One run at a
    time; one that is cancelled ends the work on its prompt, not the channel.
    """

    async def open(self, ask: ProviderPrompt) -> None:
        """Start what it needs, so that the first prompt does not wait for that. Nothing is sent to a model or to a
        service. Raises Unreachable."""

    async def run(self, ask: ProviderPrompt) -> Run:
        """Begin to work on a prompt; the conversation is the one of `ask.resume`. Raises Unreachable."""

    def answer(self, request: str, answer: object) -> bool:
        """The answer to a `request` of the current run; false when it is not open."""

    async def steer(self, text: str) -> bool:
        """More text for the current run; false when it takes none."""

    async def close(self) -> None:
        """End it and every process of it."""


@runtime_checkable
class OwnRuns(Channel, Protocol):
    """A channel whose provider may begin to work without a prompt."""

    def on_own_run(self, begun: Callable[[Run], bool]) -> None:
        """`begun` is called with each such run, to be read like any other; false when it will not be."""


@runtime_checkable
class StopsAgents(Channel, Protocol):
    """A channel that can end one subagent while the rest continues."""

    async def stop_agent(self, path: str) -> bool:
        """False when it does not run."""


class CommandLine(msgspec.Struct, frozen=True, kw_only=True):
    """How a provider's CLI is started. The prompt goes in on stdin: no length limit, no quoting, not in `ps`."""

    binary: str
    package: str  # npm package that installs it
    tested: str  # the version our recordings come from
    arguments: Callable[[ProviderPrompt], list[str]]  # after the binary; the flags of the approval level are among them
    approvals: dict[Approval, tuple[str, ...]]  # the flags each level stands for; a level not here is not offered
    forbids_commands: bool = False  # at the levels plan and edit, whatever its own settings are
    environment: Callable[[ProviderPrompt], dict[str, str]] | None = None  # variables it needs besides
    # What to show of a line of its log, which it writes to stderr: None where it is no line of a log.
    log_line: Callable[[str], str | None] | None = None
    options: frozenset[str] = frozenset()  # the names of `ProviderPrompt.options` it knows; any other is refused
    login_hint: str = ""
    # Its output ends with a line about that: without it the run ended early, whatever the exit code.
    has_end_line: bool = False


class Provider(msgspec.Struct, frozen=True, kw_only=True):
    """A provider: how to read it and how to run it. Its module has one, the registry one line."""

    name: str
    title: str
    source: Callable[[], DisplayEventSource] | None  # None: its lines pass through as they are
    recognises: Callable[[bytes], bool] | None = None  # whether a stream that begins like this is its own
    cadence: Literal["streaming", "burst"] = "streaming"
    command: CommandLine | None = None
    start: Callable[[ProviderPrompt], Run] | None = None  # for one that is not a CLI
    steers: bool = False  # its channel takes text into the current run
    counts_turns: bool = False  # a run reports each request to the model as it is made, and its tokens
    channel: Callable[[ProviderPrompt], Channel] | None = None  # not opened before its first run
    check: Callable[[], None] | None = None  # raises UserMistake when it is not set up to be used
    every_level: bool = False  # all of them mean something to it, and `auto` is one of them

    @property
    def levels(self) -> list[Approval]:
        """The approval levels that mean something to it. `auto` is up to its own settings."""
        if self.every_level:
            return list(APPROVALS)
        known = self.command.approvals if self.command is not None else {}
        return [level for level in APPROVALS if level == "auto" or level in known]


def cli_provider(
    source: type[ProviderSource],
    recognises: Callable[[bytes], bool],
    command: CommandLine,
    channel: str,
    *,
    title: str,
    steers: bool = False,
    counts_turns: bool = False,
) -> Provider:
    """A provider that is a CLI. `channel`: the class of its channel as `module:name`, imported on first use."""

    def open_channel(ask: ProviderPrompt) -> Channel:
        module, _, name = channel.partition(":")
        made: Channel = getattr(import_module(module), name)(ask)
        return made

    return Provider(
        name=source.provider,
        title=title,
        source=source,
        recognises=recognises,
        command=command,
        steers=steers,
        counts_turns=counts_turns,
        channel=open_channel,
    )


REFUSED = "refused"  # the stop reason of a run
REFUSED_EXIT_CODE = 3


def refused_details() -> dict[str, object]:
    """The details of the result of such a call, as our own agent has them."""
    return CallEnding(ended=REFUSED).as_details()


def is_refusal(event: Event) -> bool:
    if isinstance(event, RunEnded):
        return event.stop_reason == REFUSED and not event.agent
    return isinstance(event, ToolResult) and call_ending(event.details).ended == REFUSED


WORDS_AT_MOST = 4_000_000  # characters of an answer that are stored as such; all of it is in the journal as events
_BEFORE = 256 * 1024  # characters held before those: a secret that is cut in two is among them, and goes with them


class ProviderWords:
    """The text of a run's root agent: each block of it begins on a line of its own. Of a long one the end."""

    def __init__(self) -> None:
        self._parts: deque[str] = deque()
        self._block = 0
        self._held = self.left_out = 0  # characters

    def add(self, event: Text) -> None:
        if event.agent or not event.text:
            return
        if self._parts and event.block != self._block and not self._parts[-1].endswith("\n"):
            self._hold("\n")
        self._hold(event.text)
        self._block = event.block

    def _hold(self, text: str) -> None:
        self._parts.append(text)
        self._held += len(text)
        while self._held - len(self._parts[0]) >= WORDS_AT_MOST + _BEFORE:
            gone = len(self._parts.popleft())
            self._held, self.left_out = self._held - gone, self.left_out + gone

    @property
    def text(self) -> str:
        return "".join(self._parts)
