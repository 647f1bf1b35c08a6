"""A running session as its agent sees it: where what it does is numbered, kept and shown.

Rules:

- What is told to a person, asked or noted as a fact passes here without secrets, without what drives a terminal, and
  no longer than a record. (What a model says and what a call does is seen to where it comes from.)
- Nothing of a call follows its end. A command that is not a job by then is ended with it.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import msgspec

from sightline.agent import Secrets, bounded_text, bounded_value
from sightline.events import (
    Error,
    Event,
    Notice,
    Request,
    RequestResolved,
    State,
    ToolConnection,
    ToolOutput,
    ToolResult,
)
from sightline.exec import CommandSpec
from sightline.host._asked import carried, forget, made_visible
from sightline.host._call_command import CallCommand
from sightline.host._masked_output import MaskedOutput
from sightline.host._session import Session
from sightline.journal import Artifact, Entry, Store, Tree, artifact_file, is_private, is_session_id, keep_file
from sightline.text import clean_output, without_credentials
from sightline.tools import RunningCommand

_WRITTEN_AT_ONCE = 64 * 1024  # characters of a call's output
_TOLD_AT_MOST = 10_000  # characters of a text for a person
# The fields of what is said to a person or noted, which may come from anywhere.
_FIELDS: dict[type, tuple[str, ...]] = {
    Notice: ("text", "hint"),
    Error: ("text", "hint"),
    State: ("value",),
    Request: ("text", "choices", "details"),
    RequestResolved: ("answer",),
    ToolConnection: ("rule", "reason"),
}


class SessionStage:
    """The stage of one agent."""

    def __init__(self, session: Session, tree: Tree, secrets: Secrets, *, attended: bool = False) -> None:
        """`attended`: somebody answers sooner or later, whether they are there now or not."""
        self._session = session
        self._tree = tree
        self._secrets = secrets
        self._mask = secrets.masked
        self._always_attended = attended
        self._outputs: dict[str, _CallOutput] = {}

    @property
    def session(self) -> str:
        return self._session.id

    @property
    def attended(self) -> bool:
        return self._always_attended or self._session.attended

    @property
    def has_ui(self) -> bool:
        return self._session.attended

    @property
    def seq(self) -> int:
        return self._session.seq

    def publish(self, event: Event) -> None:
        if isinstance(event, Request) and event.what == "approval" and isinstance(event.details, dict):
            event = msgspec.structs.replace(event, details=self._asked(event.id, event.details))
        elif isinstance(event, RequestResolved):
            forget(self._session.folder, event.id)
        fields = _FIELDS.get(type(event))
        if fields is not None:
            told = {name: self._told(getattr(event, name)) for name in fields}
            if isinstance(event, Notice | Error):  # what is asked must be shown as it is
                told = {name: without_credentials(text) for name, text in told.items()}
            event = msgspec.structs.replace(event, **told)
        self._session.publish(event)

    def keep(self, entry: Entry) -> None:
        self._tree.add(entry, self._session.keep(entry))

    def new_call(self) -> str:
        return self._session.new_call()

    def start(self, call: str, spec: CommandSpec) -> RunningCommand:
        command: CallCommand = self._session.start_for(call, spec, self._secrets)
        return command

    def output(self, call: str) -> Callable[[str, Literal["stdout", "stderr"]], None]:
        return self._outputs.setdefault(call, _CallOutput(self._session, call, self._secrets)).write

    def end_call(self, result: ToolResult) -> None:
        self._session.let_go(result.id)
        output = self._outputs.pop(result.id, None)
        if output is not None:
            output.end()
        self._session.publish(result)
        if output is not None:
            output.close()

    def _asked(self, request: str, details: dict[str, Any]) -> dict[str, Any]:
        try:
            details = made_visible(self._secrets.masked_value(details))
            return carried(details, self._session.folder, request)
        except RecursionError:
            rest = {name: value for name, value in details.items() if name != "args"}
            return {**rest, "unseen": "its arguments are nested too deeply to be shown", "leaves": True}

    def _told(self, value: Any) -> Any:
        if isinstance(value, str):
            return bounded_text(self._mask(value), _TOLD_AT_MOST)
        try:
            return bounded_value(self._secrets.masked_value(value))
        except RecursionError:
            return {"left_out": "nested too deeply to be shown"}


class _CallOutput:
    """The output of a call that runs no command: an extension's words as they come, until the call ends."""

    def __init__(self, session: Session, call: str, secrets: Secrets) -> None:
        self._session = session
        self._call = call
        self._shown = MaskedOutput(secrets, lambda: session.read_artifact(call), session.publish)
        self._artifact: Artifact | None = None
        self._ended = False

    def write(self, text: str, stream: Literal["stdout", "stderr"] = "stdout") -> None:
        for start in range(0, 0 if self._ended else len(text), _WRITTEN_AT_ONCE):
            self._write(text[start : start + _WRITTEN_AT_ONCE].encode("utf-8", "replace"), stream)

    def end(self) -> None:
        """Nothing is written any more, and what was is told."""
        self._ended = True
        self._shown.end()

    def close(self) -> None:
        if self._artifact is not None:
            self._session.flush()
            self._artifact.close()
            self._session.forget_artifact(self._call)

    def _write(self, data: bytes, stream: Literal["stdout", "stderr"]) -> None:
        if self._artifact is None:
            self._artifact = self._session.artifact_for(self._call)
        offset = self._artifact.size
        self._artifact.write(stream, data)
        # The same way the journal reads it back from the artifact, so that live and replayed cannot differ.
        shown = clean_output(data.decode())
        self._shown.tell(ToolOutput(self._call, shown, stream, offset, 0, len(data), source="agent"))


class SessionShelf:
    """The artifacts of a session, and those of others for reading."""

    def __init__(self, store: Store, session: str) -> None:
        self._store = store
        self._session = session

    def keep(self, name: str, data: bytes) -> str:
        keep_file(self._store.folder(self._session), name, data)
        return f"artifact://{self._session}/{name}"

    def find(self, url: str) -> Path | None:
        session, _, name = url.removeprefix("artifact://").partition("/")
        if not is_session_id(session) or not name:
            return None
        folder = self._store.folder(session)
        found = artifact_file(folder, name)
        is_output = found is not None and found.suffix in (".out", ".idx")
        return None if is_output and is_private(folder, name) else found
