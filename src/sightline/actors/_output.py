"""What a call prints that runs no command of ours: stored in its artifact first, then published without secrets."""

from collections.abc import Callable
from typing import Literal

from sightline.actors._log import Log
from sightline.events import ToolOutput
from sightline.journal import Artifact
from sightline.secrets import MaskedOutput, Secrets
from sightline.text import clean_output

_WRITTEN_AT_ONCE = 64 * 1024  # bytes of one event


class CallOutput:
    """The output of one call. Nothing is written after its end."""

    def __init__(self, log: Log, call: str, secrets: Secrets, publish: Callable[[ToolOutput], None]) -> None:
        self._log = log
        self._call = call
        self._shown = MaskedOutput(secrets, lambda: log.read_artifact(call), publish)
        self._artifact: Artifact | None = None
        self._ended = False

    def write(self, text: str, stream: Literal["stdout", "stderr"] = "stdout") -> None:
        for start in range(0, 0 if self._ended else len(text), _WRITTEN_AT_ONCE):
            self._write(text[start : start + _WRITTEN_AT_ONCE].encode("utf-8", "replace"), stream)

    def end(self) -> None:
        self._ended = True
        self._shown.end()

    def close(self) -> None:
        """Release the artifact, when the last event of the call was published."""
        if self._artifact is not None:
            self._log.flush()
            self._artifact.close()
            self._log.forget_artifact(self._call)

    def _write(self, data: bytes, stream: Literal["stdout", "stderr"]) -> None:
        if self._artifact is None:
            self._artifact = self._log.artifact_for(self._call)
        offset = self._artifact.size
        self._artifact.write(stream, data)
        # As the journal reads it back from the artifact, so that live and replayed cannot differ.
        self._shown.publish(ToolOutput(self._call, clean_output(data.decode()), stream, offset, 0, len(data)))
