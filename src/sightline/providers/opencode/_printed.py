"""What a command of OpenCode's prints: whole and in order, though its server only ever shows the end of it.

Rules:

- The metadata of a running command has what it printed so far, at most its last 30,000 characters, and not every state
  of it is sent. What follows what was shown is new.
- Where what was shown is not in it any more, some is missing between. That is waited for: the end of the command brings
  the whole, in its result or in a file that OpenCode saved it to. A command that runs for long is shown with the gap
  marked.
- Nothing of a file is read but what OpenCode saved under its own name in its own folder, which we know
  ourselves. No link leads out of that folder.
"""

import os
import re
import time
from collections.abc import Callable, Mapping

from sightline.handles import open_below, read_bytes

LEFT_OUT = "\n… OpenCode left out part of the output here\n"
_MARK = "...\n\n"  # before an output that lost its beginning
_SECONDS_WITH_A_GAP = 5.0
_COMPARED = 200  # characters that identify where the shown part ends
_SAVED_AT_MOST = 16 * 1024 * 1024
_saved_name = re.compile(r"tool-output/tool_[A-Za-z0-9]{1,64}").fullmatch
_for_the_model = re.compile(r"\n*<(bash|shell)_metadata>.*?</\1_metadata>\s*\Z", re.DOTALL)


class Printed:
    """The output of one command. `data`: the folder OpenCode stores its files in; empty: none of them is read."""

    def __init__(self, data: str = "", clock: Callable[[], float] = time.monotonic) -> None:
        self._data = data
        self._clock = clock
        self._shown = 0  # characters
        self._end = ""  # the last of them
        self._gap: float | None = None  # since when there is one
        self._exact = True  # no gap was passed over

    def more(self, window: str) -> str:
        """What is new in what the server shows now."""
        new = self._after(window)
        if new is not None:
            self._gap = None
            return self._show(new)
        now = self._clock()
        self._gap = now if self._gap is None else self._gap
        return self._over_the_gap(window) if now - self._gap > _SECONDS_WITH_A_GAP else ""

    def rest(self, state: Mapping[str, object]) -> str:
        """What was not shown when the command ends; nothing where the result has all of it and none was shown."""
        metadata = state.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        window, output, path = metadata.get("output"), state.get("output"), metadata.get("outputPath")
        cut = metadata.get("truncated") is True
        if not self._shown and not cut:
            return ""
        whole = _saved(self._data, path) if cut else _for_the_model.sub("", output) if isinstance(output, str) else None
        if whole is not None and self._exact and whole[: self._shown].endswith(self._end):
            return self._show(whole[self._shown :])
        if not isinstance(window, str):
            return ""
        new = self._after(window)
        return self._over_the_gap(window) if new is None else self._show(new)

    def _after(self, window: str) -> str | None:
        """What it has after what was shown; None when that is not in it, or in it more than once."""
        whole = self._exact and not window.startswith(_MARK)
        if whole and len(window) >= self._shown and window[: self._shown].endswith(self._end):
            return window[self._shown :]
        if not self._shown or window.count(self._end) != 1:
            return None
        return window.partition(self._end)[2]

    def _over_the_gap(self, window: str) -> str:
        self._gap, self._exact = None, False
        return LEFT_OUT + self._show(window.removeprefix(_MARK))

    def _show(self, text: str) -> str:
        self._shown += len(text)
        self._end = (self._end + text)[-_COMPARED:]
        return text


def data_folder(environ: Mapping[str, str]) -> str:
    """Where OpenCode stores its files when it is started with these variables."""
    home = environ.get("XDG_DATA_HOME") or os.path.join(environ.get("HOME") or os.path.expanduser("~"), ".local/share")
    return os.path.join(home, "opencode")


def _saved(data: str, path: object) -> str | None:
    """What OpenCode saved; None where that is no file of its own, or too long."""
    name = path.removeprefix(f"{data}/") if data and isinstance(path, str) else ""
    if _saved_name(name) is None:
        return None
    try:
        descriptor = open_below(data, name)
    except (OSError, ValueError):
        return None
    try:
        facts = os.fstat(descriptor)
        if facts.st_uid != os.geteuid() or facts.st_size > _SAVED_AT_MOST:
            return None
        return read_bytes(descriptor, _SAVED_AT_MOST).decode("utf-8", "replace")
    except OSError:
        return None
    finally:
        os.close(descriptor)
