"""The interface of a tool: its parameters, its needs, its outcome.

Rules:

- A tool knows nothing of models and of views. It gets typed parameters and a context; it returns an outcome or raises
  `ToolError`, whose one message is for the model: what was wrong and what to do instead, in few words.
- What a call would do that rules or the user decide on is declared in `needs` before it runs.
- The shape of a result is a struct of `events/_ui_facts.py` (`as_details`); views draw by it alone.
- Being cancelled is asyncio's CancelledError: clean up and let it pass.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, TypeVar

import msgspec

from sightline.exceptions import SightlineError
from sightline.handles import real_path

if TYPE_CHECKING:
    from sightline.tools._context import ToolContext

Access = Literal["read", "write", "exec", "network"]
Load = Literal["always", "on_request"]  # part of every request, or only when the settings or the user request it

Details = dict[str, Any]  # of a result or an update, for views: JSON by key, the shape under `ui`

P = TypeVar("P", bound=msgspec.Struct)


class ToolError(SightlineError):
    """A call failed in a way the model can do something about. The message is all it sees."""


class Need(msgspec.Struct, frozen=True):
    """One access a call needs. `what`: an absolute path (read, write), a command line (exec), a host with its port
    (network)."""

    access: Access
    what: str
    sandboxed: bool = False  # of a command: it writes nothing outside the workspace, and has no network of its own
    why: str = ""  # for the approval request
    exposed: tuple[str, ...] = ()  # of a command: protected paths in the workspace that its sandbox does not hold
    where: str = ""  # of a command: the folder it runs in; empty: the workspace
    real: str = ""  # the path itself, where its name cannot be shown and `what` is not quite it
    planted: tuple[str, ...] = ()  # of a command that leaves the sandbox: programs in the workspace that its words mean
    passed: tuple[str, ...] = ()  # of a command: variables the settings pass to it that are withheld from others


class Proposal(msgspec.Struct, frozen=True):
    """All that a call would change, for the approval request."""

    diff: str = ""  # unified
    added: int = 0  # lines
    removed: int = 0
    about: str = ""  # what the diff does not show: it is made executable, the row is deleted
    unseen: str = ""  # what of it cannot be shown, and why; empty when the diff shows all of it
    basis: str = ""  # of what it was compared with: another one means that the target changed


class Image(msgspec.Struct, frozen=True):
    media_type: str
    data: bytes


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What a call came to: `text` and `images` for the model, `details` for views."""

    text: str = ""
    images: tuple[Image, ...] = ()
    details: Details = {}
    is_error: bool = False
    exit_code: int | None = None
    ends_run: bool = False  # the agent is done with this call: no request follows it


class Tool(Generic[P]):
    """One tool. A subclass sets the class attributes and implements `execute`."""

    name: ClassVar[str]  # as the model calls it
    description: ClassVar[str]  # for the model
    params: type[P]  # its fields' types, defaults and `msgspec.Meta(description=…)` become the JSON schema
    exclusive: ClassVar[bool] = False  # never at the same time as another call
    confined: ClassVar[bool] = False  # opens no file but those its needs name, by `sightline.handles`
    load: ClassVar[Load] = "always"

    def schema(self) -> dict[str, Any]:
        """The JSON schema of its parameters, as the model is shown it."""
        from sightline.tools._schema import schema_of

        return schema_of(self.params)

    def needs(self, params: P, context: "ToolContext") -> list[Need]:
        """The accesses it needs. May raise ToolError."""
        return []

    def preview(self, params: P) -> str:
        """One line for a marker: what it works on."""
        return ""

    def partial(self, written: str, context: "ToolContext") -> Details | None:
        """Details to show while the model still writes the arguments; `written` is their JSON text so far."""
        return None

    async def changes(self, params: P, context: "ToolContext") -> Proposal:
        """What it would change, for the approval request; empty when that is not known."""
        return Proposal()

    async def execute(self, params: P, context: "ToolContext") -> Outcome:
        raise NotImplementedError


class Choice(msgspec.Struct, frozen=True, omit_defaults=True):
    label: str
    description: str = ""


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """A question to the user: one of the choices, several, or free text."""

    text: str
    choices: tuple[Choice, ...] = ()
    several: bool = False
    free_text: bool = True
    call: str = ""  # that waits for the answer


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """`nobody`: no user is present. `dismissed`: the user closed the question."""

    chosen: tuple[str, ...] = ()
    text: str = ""
    nobody: bool = False
    dismissed: bool = False


def is_inside(path: Path, folder: Path) -> bool:
    """Whether a path, links resolved, is in a folder."""
    return Path(real_path(path)).is_relative_to(real_path(folder))
