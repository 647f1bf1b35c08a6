"""What a model is told of a command: the end of what it wrote, and how it ended."""

from sightline.events import ToolResult
from sightline.text import clean_text
from sightline.tools._running import RunningCommand
from sightline.tools._truncation import MAX_BYTES, truncate_tail


def result_text(command: RunningCommand, result: ToolResult) -> str:
    details = result.details if isinstance(result.details, dict) else {}
    if details.get("ended") == "spawn":
        return result.content
    ending = _ending(result, details)
    if details.get("binary"):
        return f"(binary output, {details.get('bytes', 0)} bytes: {command.artifact})\n{ending}".rstrip()
    shown = _output(command)
    return "\n".join([part for part in (shown or "(no output)", ending) if part])


def begun_text(command: RunningCommand, job: str, why: str) -> str:
    so_far = _output(command)
    lines = [
        f"Background job {job}: {why}. You are told when it ends.",
        f'Wait for it with job {{"poll": ["{job}"]}}, end it with job {{"cancel": ["{job}"]}}; '
        f"what it writes: {command.artifact}",
    ]
    return "\n".join([*lines, *(["Output so far:", so_far] if so_far else [])])


def _ending(result: ToolResult, details: dict[str, object]) -> str:
    match details.get("ended"):
        case "timeout":
            return f"[{result.content}; everything it had started was ended]"
        case "cancelled":
            return "[cancelled; what it had done by then is not undone]"
        case _ if details.get("signal"):
            return f"[ended by signal {details['signal']}, exit code {result.exit_code}]"
        case _:
            return f"[exit code {result.exit_code}]" if result.exit_code else ""


def _output(command: RunningCommand) -> str:
    tail, size = command.tail(MAX_BYTES)
    cut = truncate_tail(_settled(tail))
    if size <= MAX_BYTES and not cut.truncated:
        return cut.text.rstrip("\n")
    return f"[the last {cut.shown_bytes} of {size} bytes; all of it: {command.artifact}]\n{cut.text}".rstrip("\n")


def _settled(text: str) -> str:
    """Lines as a terminal would have left them where a program wrote over its own line again and again."""
    if "\r" in text:
        text = text.replace("\r\n", "\n")
        text = "\n".join([line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n")])
    return clean_text(text)
