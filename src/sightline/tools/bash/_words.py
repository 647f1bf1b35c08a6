"""The text of a command's result: the end of its output, and how it ended."""

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

from sightline.actors import RunningCommand
from sightline.events import CallEnding, ToolResult, call_ending
from sightline.text import OutputScreen, after_sequence, clean_output, clean_text, row_text
from sightline.tools._truncation import MAX_BYTES, truncate_tail

_TAIL = 2 * MAX_BYTES  # bytes: more than is shown, so that what is shown begins with a whole line
_LOOK_BACK = 512 * 1024  # bytes, where a program wrote over its own lines: of many little is left
_LITTLE = 16 * 1024  # characters that are interpreted at once; more are in a thread, however they are made
_OVERWRITES = 50  # of one line that are looked at; what was there before is long gone from sight


class ResultText(NamedTuple):
    """What the model reads."""

    text: str
    ending: Sequence[str] = ()  # lines of it about how the command ended
    cut: bool = False  # it has the end of the output alone


async def result_text(command: RunningCommand, result: ToolResult) -> ResultText:
    found = call_ending(result.details)
    if found.ended == "spawn":
        return ResultText(result.content)
    ending = _ending(result, found)
    shown, cut = await _output(command) if not found.binary else ("", False)
    nothing = f"(binary output, {found.bytes or 0} bytes: {command.artifact})" if found.binary else "(no output)"
    lost = "" if found.binary else _not_stored(found)
    text = "\n".join([part for part in (shown or nothing, lost, ending) if part])
    return ResultText(text, [line for line in ("" if shown else nothing, ending) if line], cut)


async def begun_text(command: RunningCommand, job: str, why: str) -> str:
    so_far, _ = await _output(command)
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


def _ending(result: ToolResult, found: CallEnding) -> str:
    match found.ended:
        case "timeout":
            return f"[{result.content}, exit code {result.exit_code}; everything it had started was ended]"
        case "cancelled":
            return "[cancelled; what it had done by then is not undone]"
        case _ if found.signal:
            return f"[ended by signal {found.signal}, exit code {result.exit_code}]"
        case _:
            return f"[exit code {result.exit_code}]" if result.exit_code else ""


def _not_stored(found: CallEnding) -> str:
    stored, size = found.stored or 0, found.bytes or 0
    return f"[only the first {stored} of {size} bytes could be stored; the rest is lost]" if stored < size else ""


async def _output(command: RunningCommand) -> tuple[str, bool]:
    """What it wrote, and whether that is only the end of it."""
    looked = _TAIL
    raw, size = command.tail(looked)
    if size > looked and ("\r" in raw or "\b" in raw):
        looked = _LOOK_BACK
        raw, size = command.tail(looked)
    if "\0" in raw:
        return f"(binary output so far, {size} bytes)", False
    if size > looked:  # the rest of a line is of little use, and may be the end of a secret that is not recognised
        raw = raw.partition("\n")[2] or after_sequence(raw)
    cut = truncate_tail(settled(raw) if len(raw) <= _LITTLE else await asyncio.to_thread(settled, raw))
    if size <= looked and not cut.truncated:
        return cut.text.rstrip("\n"), False
    head = f"[the last {cut.shown_lines} lines, {cut.shown_bytes} of {size} bytes; all of it: {command.artifact}]"
    return f"{head}\n{cut.text}".rstrip("\n"), True


def _overwritten(line: str) -> str:
    screen = OutputScreen(height=1)
    screen.feed(clean_output("\r".join(line.split("\r")[-_OVERWRITES:])))
    screen.finish()
    return "".join([row_text(row) for row in screen.take_settled()])
