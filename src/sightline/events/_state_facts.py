"""The values of `state` events: one struct for each key, and one guard that reads it.

A producer makes the event with `as_state`. A view reads an event with `state_fact`, and the last value of a key with
`among`. Both return the struct or None: a value that does not fit is ignored, and so is a row of a list that does not.
Fields may be added; what an older program wrote stays readable.
"""

from collections.abc import Mapping
from typing import ClassVar, Literal, TypeVar

import msgspec

from sightline.events._vocabulary import State

T = TypeVar("T")
F = TypeVar("F", bound="StateFact")


class StateFact(msgspec.Struct, frozen=True, omit_defaults=True):
    """The value of one key of `state`."""

    KEY: ClassVar[str]

    @property
    def value(self) -> object:
        """As it is written."""
        return msgspec.to_builtins(self)

    def as_state(self) -> State:
        return State(self.KEY, self.value)

    @classmethod
    def of(cls: type[F], value: object) -> F | None:
        return _converted(value, cls)

    @classmethod
    def among(cls: type[F], states: Mapping[str, object]) -> F | None:
        """The last published value; None: there is none, or it no longer holds."""
        return cls.of(states.get(cls.KEY))

    @classmethod
    def over(cls) -> State:
        """It no longer holds."""
        return State(cls.KEY, None)


class BareFact(StateFact, frozen=True):
    """Its one field is written without a name."""

    @property
    def value(self) -> object:
        return msgspec.to_builtins(getattr(self, self.__struct_fields__[0]))

    @classmethod
    def of(cls: type[F], value: object) -> F | None:
        return _converted({cls.__struct_fields__[0]: value}, cls)


class RowsFact(BareFact, frozen=True):
    """A list of rows, or a table of them by name. A row that does not fit is left out."""

    ROW: ClassVar[type]

    @classmethod
    def of(cls: "type[F]", value: object) -> F | None:
        kind = cls.ROW  # type: ignore[attr-defined]
        if isinstance(value, list):
            value = [row for each in value if (row := _converted(each, kind)) is not None]
        elif isinstance(value, dict):
            value = {name: row for name, each in value.items() if (row := _converted(each, kind)) is not None}
        return _converted({cls.__struct_fields__[0]: value}, cls)


class RetryState(StateFact, frozen=True):
    """The model's server could not answer; the request is sent again. What is not known is None."""

    KEY: ClassVar[str] = "retry"

    reason: str = ""
    attempt: int | None = None
    attempts: int | None = None  # how many there are at most
    seconds: float | None = None  # from the event to the next attempt

    @classmethod
    def of(cls, value: object) -> "RetryState | None":
        if isinstance(value, dict):
            # How other agents' retries were written before there was one shape.
            older = {"of": "attempts", "delay": "seconds", "error": "reason"}
            value = {older.get(name, name): item for name, item in value.items()}
        return super().of(value)


class ProviderState(BareFact, frozen=True):
    """Whose agent works here; empty: our own."""

    KEY: ClassVar[str] = "provider"
    name: str


class NativeSessionState(BareFact, frozen=True):
    """What another provider calls the conversation, as its own program does; empty: not known yet."""

    KEY: ClassVar[str] = "native_session"
    id: str


class ModelState(BareFact, frozen=True):
    """Which model answers; empty: our own agent has none, or the other agent chooses."""

    KEY: ClassVar[str] = "model"
    name: str


class ThinkingState(BareFact, frozen=True):
    """How much the model thinks."""

    KEY: ClassVar[str] = "thinking"
    level: str


class ApprovalState(StateFact, frozen=True, omit_defaults=False):
    """What the agent may do without asking, and the flags of its command line for that."""

    KEY: ClassVar[str] = "approval"
    level: str
    flags: list[str] = []


class ContextState(StateFact, frozen=True, omit_defaults=False, rename={"window": "of"}):
    """Tokens in the model's context, and how many fit. What is not known is None."""

    KEY: ClassVar[str] = "context"
    used: int | None = None
    window: int | None = None


class CompactionState(StateFact, frozen=True):
    """The conversation is being summarised (`running`), or has been."""

    KEY: ClassVar[str] = "compaction"
    running: bool = False
    why: str = ""
    tokens: int | None = None  # before
    after: int | None = None
    summary: str = ""
    at: str = ""  # `boundary`: another agent did it by itself


class BranchState(StateFact, frozen=True, omit_defaults=False):
    """The conversation continues elsewhere in its tree: after which entry, and the first and last events shown."""

    KEY: ClassVar[str] = "branch"
    ranges: list[tuple[int, int]]
    leaf: str = ""


class LabelState(StateFact, frozen=True, omit_defaults=False):
    """An entry of the tree has this label; an empty one takes it away."""

    KEY: ClassVar[str] = "label"
    target: str
    label: str = ""


class SteeringState(BareFact, frozen=True):
    """Whether a message reaches the agent while it works; else it is queued."""

    KEY: ClassVar[str] = "steering"
    taken: bool


class StopsAgentsState(BareFact, frozen=True):
    """Whether one subagent can be stopped while the rest continues."""

    KEY: ClassVar[str] = "stops_agents"
    able: bool


class StartingState(BareFact, frozen=True):
    """Another agent is being started. Its title."""

    KEY: ClassVar[str] = "starting"
    title: str


class WorktreeState(StateFact, frozen=True, omit_defaults=False):
    """The session works in a git worktree with this name; until its host ends."""

    KEY: ClassVar[str] = "worktree"
    name: str
    branch: str  # that it was made with
    workspace: str  # what it is a copy of


STOPPED_BY_USER = "stopped by you"
"""In every view, of an agent whose state has `stopped`."""


class AgentState(StateFact, frozen=True):
    """What an agent is doing; it publishes this about itself, under its own path.

    `idle`: its run has ended, and it takes another prompt. `parked`: the same, but it is not in memory: a prompt
    revives it. `aborted`: it takes no prompt any more.
    """

    KEY: ClassVar[str] = "agent"
    state: Literal["running", "idle", "parked", "aborted"]
    model: str = ""
    reason: str = ""  # why it was aborted, or parked while it was running
    unread: int = 0  # messages it has not read
    definition: str = ""  # which agent definition it was made from
    extension: str = ""  # the file of the extension that has it, if one has
    provider: str = ""  # whose agent it is; empty: our own
    workplace: str = ""  # overlay, worktree, copy: what it works in, if not in the session's folder
    changed_files: int = 0  # there
    added: int = 0  # lines
    removed: int = 0
    failed: bool = False  # its last task; a run of it may have ended well, and its task not
    is_review: bool = False  # it reviews a change for the user
    stopped: bool = False  # the user stopped what it did last

    @property
    def takes_prompts(self) -> bool:
        return self.state != "aborted" and not (self.workplace and self.state == "parked")

    @property
    def is_over(self) -> bool:
        """Whether it came to the end of its task in a working copy, which is gone: it takes no prompt any more."""
        return self.state == "parked" and bool(self.workplace) and not self.reason


class QueuedMessage(msgspec.Struct, frozen=True):
    """A message that waits for the agent: for its next request (`steer`), or until it is done (`follow_up`)."""

    text: str
    how: str = ""


class QueueState(RowsFact, frozen=True):
    """What waits for the agent, all of it."""

    KEY: ClassVar[str] = "queue"
    ROW: ClassVar[type] = QueuedMessage
    messages: list[QueuedMessage]


class TodoTask(msgspec.Struct, frozen=True, omit_defaults=True):
    text: str
    status: str  # pending, in_progress, completed, abandoned, or as another agent calls it
    phase: str = ""
    notes: list[str] = []

    @property
    def is_open(self) -> bool:
        return self.status not in ("completed", "abandoned", "done", "cancelled")


class TodoState(RowsFact, frozen=True):
    """The agent's plan, all of it."""

    KEY: ClassVar[str] = "todo"
    ROW: ClassVar[type] = TodoTask
    tasks: list[TodoTask]


class SessionJob(msgspec.Struct, frozen=True):
    """A command that runs behind the conversation, or did."""

    id: str
    label: str = ""
    status: str = ""
    started: float | None = None  # seconds since the epoch


class JobsState(RowsFact, frozen=True):
    """The jobs of the session, all of them."""

    KEY: ClassVar[str] = "jobs"
    ROW: ClassVar[type] = SessionJob
    jobs: list[SessionJob]


class DismissedFindings(BareFact, frozen=True):
    """Findings of reviews that the user does not want to see: their numbers, from 1, by the id of the review's call."""

    KEY: ClassVar[str] = "dismissed_findings"
    by_review: dict[str, list[int]]


class OfferedCommand(msgspec.Struct, frozen=True, omit_defaults=True):
    name: str
    about: str = ""
    args: str = ""  # what it takes, as a hint
    source: str = "extension"  # or project, user: where its file is


class CommandsState(RowsFact, frozen=True):
    """The slash commands of extensions and of Markdown files, all of them."""

    KEY: ClassVar[str] = "commands"
    ROW: ClassVar[type] = OfferedCommand
    commands: list[OfferedCommand]


class SessionSkill(msgspec.Struct, frozen=True, omit_defaults=True):
    """`standing`: offered, for the user only, or why it is not used, as every list shows it."""

    name: str
    about: str = ""
    place: str = ""  # the folder of skills it is in
    standing: str = ""
    usable: bool = False  # `/skill NAME` uses it


class SkillsState(RowsFact, frozen=True):
    """The skills of the session, all of them, in their order of precedence."""

    KEY: ClassVar[str] = "skills"
    ROW: ClassVar[type] = SessionSkill
    skills: list[SessionSkill]


class StatusTextsState(RowsFact, frozen=True):
    """Words of extensions in the status line, by the extension's key."""

    KEY: ClassVar[str] = "ui.status"
    ROW: ClassVar[type] = str
    texts: dict[str, str]


class ExtensionWidget(msgspec.Struct, frozen=True):
    """Lines above or below the editor."""

    lines: list[str]
    placement: str = "above"


class WidgetsState(RowsFact, frozen=True):
    """The widgets of extensions, by the extension's key."""

    KEY: ClassVar[str] = "ui.widgets"
    ROW: ClassVar[type] = ExtensionWidget
    widgets: dict[str, ExtensionWidget]


class TitleState(BareFact, frozen=True):
    """The title of the window, where an extension has one; empty: none."""

    KEY: ClassVar[str] = "ui.title"
    title: str


class EditorTextState(StateFact, frozen=True):
    """An extension's order to put a text into the editor. `number` makes the same text twice two orders."""

    KEY: ClassVar[str] = "ui.editor_text"
    number: int
    text: str = ""


_FACTS: dict[str, type[StateFact]] = {
    fact.KEY: fact for base in (StateFact, BareFact, RowsFact) for fact in base.__subclasses__() if "KEY" in vars(fact)
}


def state_fact(event: State) -> StateFact | None:
    """The fact in an event; None also for a key that is not known here."""
    fact = _FACTS.get(event.key)
    return None if fact is None else fact.of(event.value)


def _converted(value: object, kind: type[T]) -> T | None:
    try:
        return msgspec.convert(value, kind)
    except (msgspec.ValidationError, RecursionError):
        return None
