"""What a call gets besides its parameters: the session's workplace, and ways to publish progress and store values."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

import msgspec

from sightline.events import StateFact
from sightline.exec import work_in
from sightline.secrets import RestoredText, not_restored
from sightline.settings import Decision, Settings
from sightline.tools._tool import Answer, Details, Question

if TYPE_CHECKING:
    from sightline.actors import RunningCommand
    from sightline.exec import CommandSpec, Jobs
    from sightline.exec.gateway import Gateway
    from sightline.tools.hashline import Snapshots
    from sightline.tools.skills import SessionSkills

T = TypeVar("T")


class ArtifactShelf(Protocol):
    """The artifacts of a session: what is too big for a result."""

    def store(self, name: str, data: bytes) -> str:
        """Store these bytes; returns their artifact URL."""

    def find(self, url: str) -> Path | None:
        """The file behind an artifact URL of this or another session; None when there is none, and for the output of
        a command the user ran in private."""


class StoredHistory(Protocol):
    """The stored conversations, as text."""

    def read(self, session: str) -> str | None:
        """A session's conversation; an empty id is this session's own."""

    def file(self, session: str) -> Path | None:
        """The file another session's conversation is in; None for this session's own."""


class AgentOutputs(Protocol):
    """What the other agents of a session returned and did."""

    def output(self, id: str) -> Path | None:
        """The file with all that an agent returned; None: it has returned nothing yet."""

    def transcript(self, id: str) -> str | None:
        """Its conversation as text; None when there is no such agent."""

    def ids(self) -> list[str]: ...


class Limits(msgspec.Struct, frozen=True):
    """What the rules of a session allow its calls."""

    sandbox: bool = True
    """Commands run sandboxed unless a call asks otherwise."""
    read_only: tuple[str, ...] = ()
    """Real paths in the workspace that commands in the sandbox must not change."""
    is_denied: Callable[[str], bool] | None = None
    """Whether a rule forbids reading a file; None: there is no such rule."""


class Workplace(msgspec.Struct, eq=False):
    """What all calls of one session share. `shared(Kind)` is one instance per class, made without arguments."""

    cwd: Path  # the workspace: commands run here, relative paths mean this, only here is written unasked
    settings: Settings
    artifacts: ArtifactShelf
    local: Path  # the folder behind local://
    history: StoredHistory | None = None
    agents: AgentOutputs | None = None
    skills: "SessionSkills | None" = None
    jobs: "Jobs | None" = None
    ask: Callable[[Question], Awaitable[Answer]] | None = None
    attended: Callable[[], bool] = lambda: False
    limits: Callable[[], Limits] = Limits  # as of now: the level and the rules can change while the session runs
    gateway: "Gateway | None" = None  # the network of commands in the sandbox; None: they have none
    network: Callable[[str, int], Decision] | None = None  # the rules on a host and port that a page leads to
    stored: dict[str, Any] = {}  # values stored with the conversation, by name; they follow the branch
    _shared: dict[type[object], object] = {}

    def __post_init__(self) -> None:
        work_in(self.cwd)

    def shared(self, kind: type[T]) -> T:
        found = self._shared.get(kind)
        if not isinstance(found, kind):
            found = self._shared[kind] = kind()
        return found


class ToolContext:
    """One call's access to its workplace, and its ways to publish progress."""

    def __init__(
        self,
        call: str,
        workplace: Workplace,
        *,
        update: Callable[[Details], None] = lambda details: None,
        output: Callable[[str, Literal["stdout", "stderr"]], None] = lambda text, stream: None,
        start: "Callable[[CommandSpec], RunningCommand] | None" = None,
        store: Callable[[str, object, StateFact | None], None] | None = None,
        restored: Callable[[str, str], RestoredText] = not_restored,
        agent: str = "",
    ) -> None:
        self.passed: tuple[str, ...] = ()  # variables that the rules which allow this call pass to its command
        self.call = call
        self.agent = agent
        self.workplace = workplace
        self.update = update  # structured progress: replaces the previous one
        self._output = output
        self.start = start  # run a command whose output is this call's
        self.restored = restored  # what is written to a file, with the secret values of what it replaces there
        self._store = store

    def output(self, text: str, stream: Literal["stdout", "stderr"] = "stdout") -> None:
        """Output as it comes: stored in the call's artifact and shown live."""
        self._output(text, stream)

    @property
    def cwd(self) -> Path:
        return self.workplace.cwd

    @property
    def settings(self) -> Settings:
        return self.workplace.settings

    def shared(self, kind: type[T]) -> T:
        return self.workplace.shared(kind)

    @property
    def snapshots(self) -> "Snapshots":
        """The states of files the model was shown, those from before a resume included."""
        from sightline.tools.hashline import Snapshots

        snapshots = self.shared(Snapshots)
        snapshots.restore(self.workplace.stored)
        return snapshots

    def save(self) -> None:
        """Store the tags that this call gave out."""
        for name, value in self.snapshots.unsaved().items():
            self.keep(name, value)

    def keep(self, name: str, value: object, shown: StateFact | None = None) -> None:
        """Store a value with the conversation: it is `workplace.stored[name]` from now on, and again after a resume.
        `shown` is published as a `state`."""
        if self._store is None:
            self.workplace.stored[name] = value
        else:
            self._store(name, value, shown)
