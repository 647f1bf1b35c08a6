"""The JSON bodies of requests and responses. The OpenAPI document is made of these."""

from typing import Any, Literal

import msgspec


class ProblemBody(msgspec.Struct, frozen=True):
    """Why a request was refused, and what can be done about it."""

    error: str
    hint: str = ""


class JobBody(msgspec.Struct, frozen=True):
    """One command that runs or ran."""

    id: str
    session: str
    command: str
    cwd: str
    state: Literal["running", "ok", "failed", "cancelled", "timed_out", "lost"]
    exit_code: int | None
    started: float  # seconds since the epoch
    elapsed: float  # seconds
    bytes: int  # of output
    pty: bool


class SessionBody(msgspec.Struct, frozen=True):
    """A session and its jobs, the first of them first."""

    id: str
    kind: Literal["session", "recording"]
    title: str
    cwd: str
    state: Literal["running", "ended", "lost"]  # lost: its host was killed
    started: float
    jobs: list[JobBody]
    agent: bool = False  # it has an agent
    busy: bool = False  # the agent works
    waiting: int = 0  # open requests
    archived: bool = False
    changed: float = 0.0  # when something was added to the conversation last, or a job began or ended
    fork_of: str = ""  # the id of the session it was forked from
    folder: str = ""  # `cwd` as people write it; of one in a worktree, the workspace and the worktree's name
    provider: str = ""  # whose agent answers; empty: sightline's own
    ending: str = ""  # of an agent that has ended: failed, refused, timed_out, cancelled or lost; empty: well


class SessionList(msgspec.Struct, frozen=True):
    """Sessions: recordings, those that wait for an answer, those that work, then those that changed last. `more` is how
    many jobs there are beyond those listed."""

    sessions: list[SessionBody]
    more: int = 0


class HitBody(msgspec.Struct, frozen=True):
    """A session that was found. `snippet`: text around the words, in parts; every second part is a match."""

    session: SessionBody
    snippet: list[str]


class SessionHits(msgspec.Struct, frozen=True):
    """Sessions with a conversation that has all the words, the best first; archived ones last."""

    hits: list[HitBody]


class JobList(msgspec.Struct, frozen=True):
    """Jobs, the newest first; `more`: there are older ones."""

    jobs: list[JobBody]
    more: bool = False


class StartBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A command to run: its arguments, or a line for the shell."""

    argv: list[str] | None = None
    command: str | None = None
    cwd: str = ""
    pty: bool = False
    timeout: float | None = None  # seconds


class Started(msgspec.Struct, frozen=True):
    session: str
    job: str


class CancelBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`force`: kill it at once, without SIGTERM first."""

    force: bool = False


class CancelledBody(msgspec.Struct, frozen=True):
    id: str


class DownloadBody(msgspec.Struct, frozen=True):
    """Where a browser gets the output as a file by itself: once, within half a minute."""

    url: str


class RowsBody(msgspec.Struct, frozen=True):
    """Rows by number. A row is a list of runs (text, and a style where there is one), or has what it stands for."""

    total: int
    first: int
    rows: list[list[list[Any]] | dict[str, int]]
    deleted: bool = False  # the output was deleted


class FoundBody(msgspec.Struct, frozen=True):
    """Numbers of the rows that contain a text. With `more`, continue from `next`."""

    rows: list[int]
    more: bool
    next: int


class PromptBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Words for the agent. While it works they are sent now (`steer`) or when it has finished (`follow_up`). `agent`:
    the path of a subagent they are for."""

    text: str
    how: Literal["prompt", "steer", "follow_up"] = "prompt"
    agent: str = ""


class SendMailBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The user's words as a message to an agent. `agent`: the path of a subagent; empty: the agent of the session.
    `to_all`: to all that work or rest. `reply_to`: the id of the message that is answered."""

    text: str
    agent: str = ""
    to_all: bool = False
    reply_to: str = ""


class MailBody(msgspec.Struct, frozen=True, rename={"sent_by": "from"}):
    """A message between agents, or of the user to agents."""

    n: int  # its place, from 0
    id: str
    time: float  # seconds since the epoch
    sender: str  # path of the agent; empty for that of the session, and for the user
    by_user: bool
    sent_by: str  # how the sender is called; empty: the user
    to: list[str]
    to_all: bool
    paths: list[str]  # of its readers, the first of them
    readers: list[str]  # what became of it for each of them
    standing: str  # the same in a word, or counted
    reply_to: str
    text: str  # its beginning, or all of it
    length: int  # characters of the whole
    whole: bool


class MailList(msgspec.Struct, frozen=True):
    """Messages, the last one last, and how many there are in the session."""

    total: int
    messages: list[MailBody]


class QuestionBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A side question, outside the conversation."""

    text: str


class ReviewBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to review: a branch, `A..B` or a commit, empty for what is not committed; after ` -- ` what to look at above
    all."""

    text: str = ""


class ReviewBegun(msgspec.Struct, frozen=True):
    """`id`: of the review's call, `agent`: the path of the reviewer."""

    id: str
    agent: str


class DismissBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A finding by its number, from 1; `review`: the id of its call."""

    review: str
    finding: int
    dismissed: bool = True


class AbortBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`agent`: the path of a subagent to stop, with those below it; empty: the agent of the session."""

    agent: str = ""


class ShellBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A command line of the user. `private`: the agent does not read its output."""

    text: str
    private: bool = False


class AnswerBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The user's answer: one of the choices, or a mapping; null closes the request without an answer."""

    answer: Any = None


class ApprovalBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The approval level from now on."""

    level: Literal["plan", "edit", "auto", "full"]


class CompactBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the summary should dwell on; empty: nothing in particular."""

    focus: str = ""


class ModelBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Another model, or another thinking level, from the next request on. Empty: as it is."""

    model: str = ""
    thinking: str = ""


class RenameBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Another title in lists."""

    title: str


class ArchiveBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Whether it is left out of lists."""

    archived: bool = True


class AgentBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A session to start, with an agent in it. What is empty is as in the settings of the folder."""

    cwd: str = ""  # an absolute path, or from ~; empty: the folder of the server
    provider: str = ""  # empty: sightline's own agent
    model: str = ""
    level: Literal["", "plan", "edit", "auto", "full"] = ""


class AgentStartedBody(msgspec.Struct, frozen=True):
    session: str


class OtherAgent(msgspec.Struct, frozen=True):
    """An agent of another program that is installed here, and the approval levels it has with what each lets it do."""

    name: str
    title: str
    levels: dict[str, str]


class AgentChoices(msgspec.Struct, frozen=True):
    """What a session can be started with in `cwd`. `level`: the one its settings name; `levels`: those of sightline's
    own agent, with what each lets it do. `no_model`: why that has no model unless one is named; empty: it has one."""

    cwd: str
    folders: list[str]
    agents: list[OtherAgent]
    models: list[str]
    level: str
    levels: dict[str, str]
    no_model: str = ""


class EmptyBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Without fields."""


class Accepted(msgspec.Struct, frozen=True):
    """The host accepted it. `data`: its reply, such as the messages that were queued."""

    id: str = ""
    data: Any = None
