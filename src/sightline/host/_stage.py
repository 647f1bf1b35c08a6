"""A running session as its agent sees it: where what it does is numbered, kept and shown."""

from collections.abc import Callable
from pathlib import Path
from typing import Literal

from sightline.events import Event, ToolOutput, ToolResult
from sightline.exec import CommandSpec
from sightline.host._call_command import CallCommand
from sightline.host._session import Session
from sightline.journal import Artifact, Entry, Store, Tree, artifact_file, is_session_id, keep_file
from sightline.text import clean_output
from sightline.tools import RunningCommand

Mask = Callable[[str], str]


class SessionStage:
    """The stage of one agent."""

    def __init__(self, session: Session, tree: Tree, mask: Mask, *, attended: bool = False) -> None:
        self._session = session
        self._tree = tree
        self._mask = mask
        self.attended = attended
        self._outputs: dict[str, _CallOutput] = {}

    @property
    def session(self) -> str:
        return self._session.id

    @property
    def seq(self) -> int:
        return self._session.seq

    def publish(self, event: Event) -> None:
        self._session.publish(event)

    def keep(self, entry: Entry) -> None:
        self._tree.add(entry, self._session.keep(entry))

    def new_call(self) -> str:
        return self._session.new_call()

    def start(self, call: str, spec: CommandSpec) -> RunningCommand:
        command: CallCommand = self._session.start_for(call, spec, self._mask)
        return command

    def output(self, call: str) -> Callable[[str, Literal["stdout", "stderr"]], None]:
        def write(text: str, stream: Literal["stdout", "stderr"] = "stdout") -> None:
            if call not in self._outputs:
                self._outputs[call] = _CallOutput(self._session, call, self._mask)
            self._outputs[call].write(text, stream)

        return write

    def end_call(self, result: ToolResult) -> None:
        self._session.publish(result)
        output = self._outputs.pop(result.id, None)
        if output is not None:
            self._session.flush()
            output.close()


class _CallOutput:
    """The output of a call that runs no command: an extension's words as they come."""

    def __init__(self, session: Session, call: str, mask: Mask) -> None:
        self._session = session
        self._call = call
        self._mask = mask
        self._artifact: Artifact = session.artifact_for(call)

    def write(self, text: str, stream: Literal["stdout", "stderr"]) -> None:
        data = text.encode("utf-8", "replace")
        if not data:
            return
        offset = self._artifact.size
        self._artifact.write(stream, data)
        # The same way the journal reads it back from the artifact, so that live and replayed cannot differ.
        shown = self._mask(clean_output(data.decode()))
        self._session.publish(ToolOutput(self._call, shown, stream, offset, 0, len(data), source="agent"))

    def close(self) -> None:
        self._artifact.close()
        self._session.forget_artifact(self._call)


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
        return artifact_file(self._store.folder(session), name)
