"""What a model is told of a command: the end of what it wrote, and how it ended."""

from typing import Any

from sightline.events import ToolResult
from sightline.text import Screen, clean_output, clean_text, row_text
from sightline.tools._running import RunningCommand
from sightline.tools._truncation import MAX_BYTES, truncate_tail

_TAIL = 2 * MAX_BYTES  # bytes: more than is told, so that what is told begins with a whole line
_LOOK_BACK = 512 * 1024  # bytes, where a program wrote over its own lines: of many little is left
_OVERWRITES = 50  # of one line that are looked at; what was there before is long gone from sight


def result_text(command: RunningCommand, result: ToolResult) -> str:
    details = result.details if isinstance(result.details, dict) else {}
    if details.get("ended") == "spawn":
        return result.content
    ending = _ending(result, details)
    if details.get("binary"):
        return f"(binary output, {details.get('bytes', 0)} bytes: {command.artifact})\n{ending}".rstrip()
    shown = _output(command)
    return "\n".join([part for part in (shown or "(no output)", _not_kept(details), ending) if part])


def begun_text(command: RunningCommand, job: str, why: str) -> str:
    so_far = _output(command)
    lines = [
        f"Background job {job}: {why}. A message reports its end.",
        f'Wait for it with job {{"poll": ["{job}"]}}, end it with job {{"cancel": ["{job}"]}}; '
        f"what it writes: {command.artifact}",
    ]
    return "\n".join([*lines, *(["Output so far:", so_far] if so_far else [])])


def settled(text: str) -> str:
    """Lines as a terminal would have left them where a program wrote over its own line again and again."""
    if "\r" in text or "\b" in text:
        lines = text.replace("\r\n", "\n").split("\n")
        text = "\n".join([_overwritten(line) if "\r" in line or "\b" in line else line for line in lines])
    return clean_text(text)


def _ending(result: ToolResult, details: dict[str, Any]) -> str:
    match details.get("ended"):
        case "timeout":
            return f"[{result.content}, exit code {result.exit_code}; everything it had started was ended]"
        case "cancelled":
            return "[cancelled; what it had done by then is not undone]"
        case _ if details.get("signal"):
            return f"[ended by signal {details['signal']}, exit code {result.exit_code}]"
        case _:
            return f"[exit code {result.exit_code}]" if result.exit_code else ""


def _not_kept(details: dict[str, Any]) -> str:
    kept, size = details.get("kept", 0), details.get("bytes", 0)
    return f"[only the first {kept} of {size} bytes could be stored; the rest is lost]" if kept < size else ""


def _output(command: RunningCommand) -> str:
    looked = _TAIL
    raw, size = command.tail(looked)
    if size > looked and ("\r" in raw or "\b" in raw):
        looked = _LOOK_BACK
        raw, size = command.tail(looked)
    if "\0" in raw:
        return f"(binary output so far, {size} bytes)"
    if size > looked:  # what is left of a line says little, and may be the end of a secret that nobody recognises
        raw = raw.partition("\n")[2] or raw
    cut = truncate_tail(settled(raw))
    if size <= looked and not cut.truncated:
        return cut.text.rstrip("\n")
    head = f"[the last {cut.shown_lines} lines, {cut.shown_bytes} of {size} bytes; all of it: {command.artifact}]"
    return f"{head}\n{cut.text}".rstrip("\n")


def _overwritten(line: str) -> str:
    screen = Screen(height=1)
    screen.feed(clean_output("\r".join(line.split("\r")[-_OVERWRITES:])))
    screen.finish()
    return "".join([row_text(row) for row in screen.take_settled()])
