"""What a result or an update shows: `details.ui.kind`, one struct for each kind, and one guard that reads it.

A tool or a provider makes the details with `as_details`. A view reads them with `ui_fact`, and matches on the struct;
it never asks which tool was called. A field that does not fit is as if it were missing; where it is one that the kind
needs, or the kind is not known here, the guard returns None and the result is shown as plain text.
"""

from functools import cache
from typing import Any, ClassVar, Literal, TypeVar

import msgspec

T = TypeVar("T", bound=msgspec.Struct)
U = TypeVar("U", bound="UiFact")


class UiFact(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one kind shows."""

    KIND: ClassVar[str]
    IN_UI: ClassVar[frozenset[str]] = frozenset()  # fields that are written into `ui`; the others stand beside it

    def as_details(self, **more: object) -> dict[str, Any]:
        """`more`: what programs may read besides, and no view shows."""
        ui: dict[str, Any] = {"kind": self.KIND}
        details: dict[str, Any] = {"ui": ui}
        in_ui = self.IN_UI
        for name, value in msgspec.to_builtins(self).items():
            (ui if name in in_ui else details)[name] = value
        details.update(more)
        return details

    @classmethod
    def of(cls: type[U], details: object) -> U | None:
        """The struct of these details, if they are of its kind."""
        fact = ui_fact(details)
        return fact if isinstance(fact, cls) else None


class DisplayedText(msgspec.Struct, frozen=True):
    text: str
    start_line: int = 1


class TextFact(UiFact, frozen=True):
    """A text that is set aside for views."""

    IN_UI: ClassVar[frozenset[str]] = frozenset(("path", "first", "last", "total", "entries"))

    path: str = ""
    display_content: DisplayedText | str | None = None
    first: int | None = None  # lines of the file: the first that was read, the last, and how many there are
    last: int | None = None
    total: int | None = None
    entries: int | None = None  # of a folder

    @property
    def displayed(self) -> str | None:
        """The text; None: it is the content that the model reads."""
        shown = self.display_content
        return shown.text if isinstance(shown, DisplayedText) else shown

    @property
    def first_displayed(self) -> int:
        return self.display_content.start_line if isinstance(self.display_content, DisplayedText) else 1


class ReadFact(TextFact, frozen=True):
    """Lines of a file."""

    KIND: ClassVar[str] = "read"


class ListingFact(TextFact, frozen=True):
    """Names in a folder."""

    KIND: ClassVar[str] = "listing"


class ResourceFact(TextFact, frozen=True):
    """Something that is not a file."""

    KIND: ClassVar[str] = "resource"


class CodeFact(TextFact, frozen=True):
    KIND: ClassVar[str] = "code"

    code: str = ""


class MarkdownFact(TextFact, frozen=True):
    KIND: ClassVar[str] = "markdown"

    markdown: str = ""


class TableFact(TextFact, frozen=True):
    """Cells as data, or a text with a rule below its header."""

    KIND: ClassVar[str] = "table"
    IN_UI: ClassVar[frozenset[str]] = TextFact.IN_UI | {"rows", "shape"}

    shape: str = ""
    columns: list[object] | None = None
    rows: list[list[object]] | int | None = None  # or how many of them the text has


class JsonFact(UiFact, frozen=True):
    """A value; without one it is the text of the result."""

    KIND: ClassVar[str] = "json"

    data: Any = msgspec.UNSET


class ImageFact(TextFact, frozen=True):
    KIND: ClassVar[str] = "image"
    IN_UI: ClassVar[frozenset[str]] = TextFact.IN_UI | {"media_type", "bytes"}

    media_type: str = ""
    bytes: int | None = None


class SearchFact(UiFact, frozen=True):
    """Lines that match: `# file`, and the lines below it."""

    KIND: ClassVar[str] = "search"

    match_count: int | None = None
    file_count: int | None = None
    files: list[str] | None = None
    display_content: str | None = None


class ListedFile(msgspec.Struct, frozen=True):
    path: str
    problem: str = ""


class FilesFact(UiFact, frozen=True):
    """Files that match, or were worked on."""

    KIND: ClassVar[str] = "files"

    file_count: int | None = None
    files: list[ListedFile | str] | None = None
    display_content: str | None = None

    @property
    def names(self) -> list[str]:
        return [file if isinstance(file, str) else file.path for file in self.files or ()]

    @property
    def problems(self) -> list[str]:
        listed = [file for file in self.files or () if isinstance(file, ListedFile)]
        return [f"{file.path}: {file.problem}" for file in listed if file.problem]


class SecretsInFile(msgspec.Struct, frozen=True):
    """Names of the secret values that a file holds again, and of those that it was not given."""

    restored: list[str] = []
    left: list[str] = []


class ChangedFile(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was changed in one file."""

    diff: str = ""
    path: str = ""
    op: str = ""  # create or update
    added: int | None = None  # lines
    removed: int | None = None
    first_changed_line: int | None = None
    warnings: list[str] | None = None
    secrets: SecretsInFile | None = None


class DiffFact(UiFact, ChangedFile, frozen=True):
    """A change of files, as a unified diff."""

    KIND: ClassVar[str] = "diff"

    diff: str
    partial: bool = False  # the model still writes it
    per_file_results: list[ChangedFile] = []  # where there are several

    @property
    def changes(self) -> list[ChangedFile]:
        """File by file."""
        return self.per_file_results or [self]


class PhaseTask(msgspec.Struct, frozen=True, omit_defaults=True):
    content: str
    status: Literal["pending", "in_progress", "completed", "abandoned"] = "pending"
    notes: list[str] = []


class TodoPhase(msgspec.Struct, frozen=True):
    name: str
    tasks: list[PhaseTask]


class TodoFact(UiFact, frozen=True):
    """A plan, after a change of it."""

    KIND: ClassVar[str] = "todo"

    phases: list[TodoPhase]


class ShownJob(msgspec.Struct, frozen=True, omit_defaults=True):
    id: str
    status: Literal["running", "completed", "failed", "cancelled"]
    label: str
    type: str = ""
    duration_ms: int | float | None = None
    result_text: str | None = None
    error_text: str | None = None

    @property
    def seconds(self) -> float:
        return (self.duration_ms or 0) / 1000


class JobCancelled(msgspec.Struct, frozen=True):
    id: str
    status: str  # cancelled, not_found, already_completed


class JobsFact(UiFact, frozen=True):
    """Background jobs, and what became of those that were to be cancelled."""

    KIND: ClassVar[str] = "jobs"

    jobs: list[ShownJob]
    cancelled: list[JobCancelled] | None = None


class GivenAnswer(msgspec.Struct, frozen=True):
    """To one of several questions."""

    question: str = ""
    chosen: list[str] = []
    text: str = ""
    answered: bool = False

    @property
    def replies(self) -> list[str]:
        return [reply for reply in (*self.chosen, self.text) if reply]


class QuestionFact(UiFact, frozen=True):
    """A question to the user, and the answer."""

    KIND: ClassVar[str] = "question"

    question: str = ""
    chosen: list[str] | None = None
    text: str | None = None
    answers: list[GivenAnswer] | None = None  # to several questions
    answered: bool | None = None

    @property
    def replies(self) -> list[str]:
        """What was answered, where it is one question."""
        return [reply for reply in (*(self.chosen or ()), self.text or "") if reply]


class ReviewFinding(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a reviewer reports: a place in a change, and what is wrong there."""

    title: str
    body: str = ""
    file: str = ""
    first_line: int = 0
    last_line: int = 0
    priority: int = 2  # 0: must be fixed; 3: a nit
    confidence: float = 1.0
    diff: str = ""  # the lines around the place, as a part of a diff, without the names of files

    @property
    def place(self) -> str:
        """`src/app.py:12-14`; empty where no file is named."""
        if not self.file or not self.first_line:
            return self.file
        return f"{self.file}:{self.first_line}" + (f"-{self.last_line}" if self.last_line > self.first_line else "")


class FindingFact(UiFact, ReviewFinding, frozen=True):
    """One finding, when it is reported."""

    KIND: ClassVar[str] = "finding"


class ReviewFact(UiFact, frozen=True):
    """What came of a review."""

    KIND: ClassVar[str] = "review"

    target: str  # what was reviewed, in words: `main..HEAD`, `the uncommitted changes`
    agent: str = ""  # the path of the reviewer
    base: str = ""  # ids of commits: what it was compared with,
    tip: str = ""  # and what was reviewed; empty: the files as they were
    verdict: Literal["", "approve", "request_changes"] = ""
    summary: str = ""
    confidence: float | None = None
    checked: list[str] = []  # what the reviewer ran or read
    warnings: list[str] = []
    findings: list[ReviewFinding] = []
    changed_files: int = 0
    left_out: int = 0  # files that may not be read

    @property
    def outcome(self) -> str:
        """`changes requested, 2 findings`."""
        verdict = {"approve": "approved", "request_changes": "changes requested"}.get(self.verdict, "no verdict")
        count = len(self.findings)
        return f"{verdict}, {count or 'no'} finding{'s' * (count != 1)}"


class CallEnding(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a call ended, in the details of its result, of whatever kind they are. What is not known is empty."""

    ended: str = ""  # exit, timeout, cancelled, refused, job, host, spawn, unfinished or stopped
    job: str = ""  # the id of the job it continues as
    by: Literal["", "user", "rule", "level", "nobody"] = ""  # refused: by whom; `nobody`: no user was present to ask
    rule: str = ""  # refused: the rule that denies it
    reason: str = ""  # refused: the words of the user
    problem: str = ""  # spawn, or of a review: what went wrong
    hint: str = ""  # spawn: what to try
    outcome_lines: list[str] | None = msgspec.field(default=None, name="told")  # of the content, about how it ended
    cut: bool = False  # the content has the end of the output alone
    signal: int | None = None
    exit_code: int | None = None  # in a conversation; a result has it beside the details
    artifact: str = ""
    bytes: int | None = None  # of the output
    stored: int | None = msgspec.field(default=None, name="kept")  # of them
    binary: bool | None = None
    sandboxed: bool | None = None
    passed: list[str] = []  # names of secret variables it was given

    def as_details(self, **more: object) -> dict[str, Any]:
        return {**msgspec.to_builtins(self), **more}

    @property
    def why_refused(self) -> str:
        """Who refused it and why, in words; the user's own words are marked as theirs. Empty: it is not known."""
        match self.by:
            case "user":
                return f"you: {self.reason}" if self.reason else "by you"
            case "rule":
                return f"not allowed (rule: {self.rule})"
            case "level":
                return "not allowed (the approval level is plan)"
            case "nobody":
                return "no user was there to ask"
        return self.reason

    def without_outcome(self, content: str) -> str:
        """A content without the lines about how the call ended."""
        lines = content.split("\n")
        for line in reversed(self.outcome_lines or ()):
            if line in lines:
                del lines[len(lines) - 1 - lines[::-1].index(line)]
        return "\n".join(lines)


class FileCollision(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Why an edit or a write was refused: another agent had changed the file. In the details of the result."""

    path: str
    session: str  # of the agent that wrote it last, as all that follows
    agent: str = ""  # its path; empty: the session's own
    call: str = ""
    seconds: int = 0  # since it did

    def as_details(self) -> dict[str, Any]:
        return {"collision": msgspec.to_builtins(self)}


class CommandFact(UiFact, CallEnding, frozen=True):
    """A command: what is shown of it is how it ended."""

    KIND: ClassVar[str] = "command"


_KINDS: dict[str, type[UiFact]] = {
    fact.KIND: fact for base in (UiFact, TextFact) for fact in base.__subclasses__() if "KIND" in vars(fact)
}


def ui_fact(details: object) -> UiFact | None:
    if not isinstance(details, dict) or not isinstance(ui := details.get("ui"), dict):
        return None
    if not isinstance(kind := ui.get("kind"), str) or kind not in _KINDS:
        return None
    fact, values = _KINDS[kind], {**details, **ui}
    try:
        return msgspec.convert(values, fact)
    except (msgspec.ValidationError, RecursionError):
        return _fitting(values, fact)


def call_ending(details: object) -> CallEnding:
    return (_fitting(details, CallEnding) if isinstance(details, dict) else None) or CallEnding()


def file_collision(details: object) -> FileCollision | None:
    found = details.get("collision") if isinstance(details, dict) else None
    return _fitting(found, FileCollision) if isinstance(found, dict) else None


def _fitting(values: dict[str, object], fact: type[T]) -> T | None:
    """The struct of the fields that fit; of a list that may be missing, the items that do."""
    fitting = {}
    for field in _fields(fact):
        value = values.get(field.encode_name)
        if isinstance(value, list) and not field.required:
            value = [item for item in value if _fits([item], field.type)] or value
        if field.encode_name in values and _fits(value, field.type):
            fitting[field.encode_name] = value
    try:
        return msgspec.convert(fitting, fact)
    except (msgspec.ValidationError, RecursionError):
        return None


# What a struct has never changes, and finding out is slow.
_fields = cache(msgspec.structs.fields)


def _fits(value: object, kind: Any) -> bool:
    try:
        msgspec.convert(value, kind)
    except (msgspec.ValidationError, RecursionError):
        return False
    return True
