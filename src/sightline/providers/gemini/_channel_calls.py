"""The calls of Gemini's channel, as far as it reports them.

Rules of this wire:

- A call has no name and no arguments: its id begins with the name, and a title describes what it does. That of a
  command is the command. Files are in `locations`; what a change does to them is a `diff` of two whole texts.
- What stands beside the title when a call begins explains it: where a command runs and why, an MCP tool's arguments.
"""

import os
import re
from collections.abc import Iterator

import msgspec

_LINES_COMPARED = 8_000  # of both texts together; of longer ones only the first and last difference is shown
_CONTEXT = 3
_ID_AT_MOST = 400

_own_id = re.compile(r"(.+)__\1_\d+_\d+").fullmatch
_about_command = re.compile(
    r"\[(?:in (?P<dir_path>.+?)|current working directory .+?)\](?: \((?P<description>.*)\))?(?: \[background\])?",
    re.DOTALL,
).fullmatch
# The argument that is all of a title but these words.
_TITLES: dict[str, tuple[str, str, str]] = {
    "glob": ("pattern", "'", "'"),
    "google_web_search": ("query", 'Searching the web for: "', '"'),
    "grep_search": ("pattern", "'", "'"),
    "invoke_agent": ("agent_name", "Delegating to agent '", "'"),
    "list_directory": ("dir_path", "", ""),
    "run_shell_command": ("command", "", ""),
    "web_fetch": ("prompt", 'Processing URLs and instructions from prompt: "', '"'),
}
_FILES = frozenset(("read_file", "replace", "write_file"))


class GeminiCall(msgspec.Struct, gc=False):
    """A call that begins, runs, ends or needs approval. Fields may be anything: one must not spoil the others."""

    toolCallId: str
    title: object = ""
    kind: object = ""
    status: object = ""
    content: object = None
    locations: object = None

    @property
    def words(self) -> str:
        return self.title if isinstance(self.title, str) else ""

    @property
    def native_name(self) -> str:
        id = self.toolCallId[:_ID_AT_MOST]
        own = _own_id(id)
        name = own[1] if own is not None else id.rpartition("__")[0]
        return name or (self.kind if isinstance(self.kind, str) and self.kind else "tool")

    @property
    def text(self) -> str:
        """What stands beside the title, or was the result."""
        texts = [part["content"].get("text") for part in self._parts("content") if isinstance(part["content"], dict)]
        return "\n".join([text for text in texts if isinstance(text, str)])

    @property
    def path(self) -> str:
        places = self.locations if isinstance(self.locations, list) else []
        paths = [place.get("path") for place in places if isinstance(place, dict)]
        return next((path for path in paths if isinstance(path, str)), "")

    def changes(self, cwd: str) -> tuple[str, str]:
        """The files it changes, and how, as one unified diff."""
        paths, diffs = [], []
        for part in self._parts("path"):
            path, old, new = str(part["path"]), part.get("oldText"), part.get("newText")
            paths.append(_within(path, cwd))
            diffs.append(_diff(paths[-1], old if isinstance(old, str) else "", new if isinstance(new, str) else ""))
        return ", ".join(paths), "".join(diffs)

    def args(self, cwd: str) -> dict[str, object]:
        """What is known of its arguments, under the names it has for them."""
        native, title = self.native_name, self.words
        if native in _FILES and self.path:
            return {"file_path": _within(self.path, cwd)}
        field, before, after = _TITLES.get(native, ("", "", ""))
        if not field or not (title.startswith(before) and title.endswith(after) and len(title) > len(before + after)):
            return self._explained() or self._described()
        args: dict[str, object] = {field: title[len(before) : len(title) - len(after)]}
        about = _about_command(self.text) if native == "run_shell_command" else None
        return args if about is None else {**args, **{key: value for key, value in about.groupdict().items() if value}}

    def _explained(self) -> dict[str, object]:
        try:
            args = msgspec.json.decode(self.text.encode("utf-8", "replace"))
        except (ValueError, RecursionError):
            return {}
        return args if isinstance(args, dict) else {}

    def _described(self) -> dict[str, object]:
        """The texts in place of arguments; of long ones Gemini only reports that it leaves them out."""
        words = {"description": self.words, "explanation": self.text}
        return {name: text for name, text in words.items() if text}

    def _parts(self, with_field: str) -> Iterator[dict[str, object]]:
        for part in self.content if isinstance(self.content, list) else []:
            if isinstance(part, dict) and with_field in part:
                yield part


def _within(path: str, cwd: str) -> str:
    """As it is called inside the folder, where it is in there."""
    return os.path.relpath(path, cwd) if cwd and path.startswith(os.path.join(cwd, "")) else path


def _diff(path: str, old: str, new: str) -> str:
    before, after = _lines(old), _lines(new)
    if len(before) + len(after) <= _LINES_COMPARED:
        import difflib

        hunks = list(difflib.unified_diff(before, after, n=_CONTEXT, lineterm=""))[2:]
    else:
        hunks = _one_hunk(before, after)
    head = [f"--- {path if old else '/dev/null'}", f"+++ {path if new else '/dev/null'}"]
    return "".join([f"{line}\n" for line in [*head, *hunks]]) if hunks else ""


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


def _one_hunk(before: list[str], after: list[str]) -> list[str]:
    """All between the first and the last line that differ; quick, however long the texts are."""
    start, least = 0, min(len(before), len(after))
    while start < least and before[start] == after[start]:
        start += 1
    end = 0
    while end < least - start and before[-1 - end] == after[-1 - end]:
        end += 1
    gone, come = before[start : len(before) - end], after[start : len(after) - end]
    if not gone and not come:
        return []
    old, new = (f"{start + 1 if lines else start},{len(lines)}" for lines in (gone, come))
    return [f"@@ -{old} +{new} @@", *[f"-{line}" for line in gone], *[f"+{line}" for line in come]]
