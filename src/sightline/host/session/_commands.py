"""The commands a view may send to a session, and the reply. On the wire `kind` says which it is, as with events."""

from typing import Any, Literal, Union

import msgspec

from sightline.exec import CommandSpec


class Start(msgspec.Struct, frozen=True, tag_field="kind", tag="start"):
    """Run a command as a job of this session. The reply has its id."""

    spec: CommandSpec


class CancelJob(msgspec.Struct, frozen=True, tag_field="kind", tag="cancel"):
    """End a job and everything it started; its output stays. `force`: without asking first."""

    id: str
    force: bool = False


class Stop(msgspec.Struct, frozen=True, tag_field="kind", tag="stop"):
    """End the session: its jobs are cancelled, then the host goes. `unless_watched`: if no other user attends it."""

    unless_watched: bool = False


class Prompt(msgspec.Struct, frozen=True, tag_field="kind", tag="prompt"):
    """A prompt for the agent. During a run it joins in: now (steer), or when the run is over (follow_up)."""

    text: str
    how: Literal["prompt", "steer", "follow_up"] = "prompt"
    attachments: list[str] = []  # artifact URLs, from `Attach`
    agent: str = ""  # the path of a subagent it is for; empty: the agent of the session


class SendMail(msgspec.Struct, frozen=True, tag_field="kind", tag="send_mail"):
    """The user's words as a message to agents: each reads them at its next step, or is woken or revived by them. The
    reply has the message's id, and in its data a `receipt` for each reader."""

    text: str
    agent: str = ""  # the path of a subagent; empty: the agent of the session
    to_all: bool = False  # to all that work or rest, and the agent of the session; parked ones are left alone
    reply_to: str = ""  # the id of the message it answers


class AskAside(msgspec.Struct, frozen=True, tag_field="kind", tag="ask_aside"):
    """A question beside the conversation: a copy of the agent answers, under a path of its own. That is the reply's id.
    Neither the question nor the answer is in the conversation."""

    text: str


class Review(msgspec.Struct, frozen=True, tag_field="kind", tag="review"):
    """Have a change reviewed, by an agent beside the conversation. `text`: a branch, `A..B` or a commit, empty for what
    is not committed; after ` -- ` what to look at above all. The reply's id is that of the review's call, its data has
    the path of the `agent`."""

    text: str = ""


class ReviewChoices(msgspec.Struct, frozen=True, tag_field="kind", tag="review_choices"):
    """What there is to review, in the reply's data: how many files are not committed (`uncommitted`), the `main` branch
    and how many commits this one is `ahead` of it, `branches` and `commits`."""


class DismissFinding(msgspec.Struct, frozen=True, tag_field="kind", tag="dismiss_finding"):
    """A finding of a review, by its number from 1, is not to be fixed; or it is, after all. `review`: the id of its
    call."""

    review: str
    finding: int
    dismissed: bool = True


class Attach(msgspec.Struct, frozen=True, tag_field="kind", tag="attach"):
    """Store a file of the user's, so that a prompt can name it. The reply's id is its artifact URL."""

    name: str
    data: bytes


class Unqueue(msgspec.Struct, frozen=True, tag_field="kind", tag="unqueue"):
    """Return the queued prompts, in the reply; the run continues."""


class Shell(msgspec.Struct, frozen=True, tag_field="kind", tag="shell"):
    """Run a command line the user typed, outside the sandbox. The reply has the call's id. The agent reads it and its
    output with the next prompt, unless it is private."""

    text: str
    private: bool = False


class Cell(msgspec.Struct, frozen=True, tag_field="kind", tag="cell"):
    """Run Python the user typed, in the session's one cell process; otherwise as `shell`."""

    code: str
    private: bool = False


class Outline(msgspec.Struct, frozen=True, tag_field="kind", tag="outline"):
    """The tree of the conversation, line by line, in the answer's data."""

    filter: str = "default"
    search: str = ""


class EditTodo(msgspec.Struct, frozen=True, tag_field="kind", tag="edit_todo"):
    """Another todo list, as Markdown: headings are phases, `- [ ]` tasks. The agent reads it. The reply's data has the
    new list (`markdown`); with None nothing is changed, and it is the current one with ended tasks."""

    markdown: str | None = None


class Reload(msgspec.Struct, frozen=True, tag_field="kind", tag="reload"):
    """Read the settings again. The reply's data has those that changed and apply only in a new session."""


class Abort(msgspec.Struct, frozen=True, tag_field="kind", tag="abort"):
    """Stop the agent's run. Its text so far stays; the queued prompts are in the reply."""

    agent: str = ""  # the path of a subagent, which is stopped with those below it; empty: the agent of the session


class CancelCall(msgspec.Struct, frozen=True, tag_field="kind", tag="cancel_call"):
    """Stop one call of the agent's; the run continues."""

    id: str


class AnswerRequest(msgspec.Struct, frozen=True, tag_field="kind", tag="answer"):
    """Answer a request. The first answer counts."""

    id: str
    answer: Any = None


class MoveTo(msgspec.Struct, frozen=True, tag_field="kind", tag="move"):
    """Continue from another entry of the session's tree."""

    to: str
    summarize: bool = False
    instructions: str = ""


class Label(msgspec.Struct, frozen=True, tag_field="kind", tag="label"):
    """Give an entry of the tree a label; an empty one takes it away."""

    target: str
    label: str = ""


class Compact(msgspec.Struct, frozen=True, tag_field="kind", tag="compact"):
    """Summarise the older part of the conversation now."""

    instructions: str = ""


class SetModel(msgspec.Struct, frozen=True, tag_field="kind", tag="set_model"):
    """Use another model from the next request on, or another thinking level. Empty: as it is."""

    model: str = ""
    thinking: str = ""


class SetApproval(msgspec.Struct, frozen=True, tag_field="kind", tag="set_approval"):
    """Another approval level for this session; or no longer a rule that came of an answer. Empty: as it is. The
    reply's data has the `level`, the `levels` there are, the `rules`, and `next` when the level applies from the next
    prompt on."""

    level: str = ""
    forget: str = ""


class Invoke(msgspec.Struct, frozen=True, tag_field="kind", tag="invoke"):
    """Run a command an extension brought."""

    name: str
    args: str = ""


_WorkCommand = Prompt | SendMail | AskAside | Attach | Unqueue | Shell | Cell | Abort | CancelCall | AnswerRequest
_ReviewCommand = Review | ReviewChoices | DismissFinding
_ConversationCommand = Outline | EditTodo | Reload | MoveTo | Label | Compact | SetModel | SetApproval | Invoke
AgentCommand = Union[_WorkCommand, _ReviewCommand, _ConversationCommand]
Command = Union[Start, CancelJob, Stop, AgentCommand]


class CommandReply(msgspec.Struct, frozen=True, tag_field="kind", tag="reply"):
    """A command was accepted, or why it was not."""

    ok: bool
    id: str = ""  # of the job
    error: str = ""
    hint: str = ""
    data: Any = None  # the command's result, where it has one
    ref: int = 0  # which request of a connection it answers
