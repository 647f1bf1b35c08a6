"""What there is to know about something that is to be allowed, each thing once."""

from collections.abc import Iterator
from typing import Any

from sightline.text import clean_line, clean_text
from sightline.tty import Component
from sightline.tty.components import Code, Text
from sightline.views.console._drawing import Drawing
from sightline.views.console.dialogs._asker import asker

DOING = {"exec": "run a command", "network": "use the network", "write": "write a file", "read": "read a file"}
_OBVIOUS = {("exec", "bash"), ("write", "write"), ("read", "read")}  # the tool is what it does
_SHOWN_ELSEWHERE = ("input", "content", "path")  # where there is a diff
_VALUE_AT_MOST = 20_000


def head_lines(request: dict[str, Any], details: dict[str, Any]) -> Iterator[str]:
    doing = DOING.get(str(details.get("access")), "")
    where = _where(details)
    if not doing:
        yield clean_text(str(request.get("text") or ""))
    else:
        yield f"{asker(request)} wants to {doing}{where and f' {where}'}{_by(details)}"
    if details.get("cwd"):
        yield f"folder: {clean_line(str(details['cwd']))}"
    why = clean_line(str(details.get("why") or ""))
    if why and not (where and where in why):
        yield f"why: {why}"


def _where(details: dict[str, Any]) -> str:
    """What ends the sentence; a reason that fits there is said there."""
    if details.get("access") == "exec" and isinstance(details.get("sandboxed"), bool):
        return "in the sandbox" if details["sandboxed"] else "outside the sandbox"
    why = clean_line(str(details.get("why") or ""))
    return why if why.startswith("outside ") else ""


def _by(details: dict[str, Any]) -> str:
    tool = clean_line(str(details.get("tool") or ""))
    return f" ({tool})" if tool and (details.get("access"), tool.lower()) not in _OBVIOUS else ""


def main_part(details: dict[str, Any], drawing: Drawing) -> Component:
    what = str(details.get("what") or "")
    if details.get("access") == "exec":
        return Code(what, "bash", theme=drawing.theme)
    return Text(what, "strong", theme=drawing.theme)


def other_arguments(details: dict[str, Any], *, has_diff: bool) -> Iterator[str]:
    args = details.get("args")
    for name, value in args.items() if isinstance(args, dict) else ():
        if value == details.get("what") or (has_diff and name in _SHOWN_ELSEWHERE) or _is_told(name, details):
            continue
        text = value if isinstance(value, str) else _json(value)
        left_out = len(text) - _VALUE_AT_MOST
        more = f"\n… {left_out} more characters" if left_out > 0 else ""
        yield clean_text(f"{name}: {text[:_VALUE_AT_MOST]}{more}")


def _is_told(name: str, details: dict[str, Any]) -> bool:
    """Of an argument: it is what the head says in words."""
    if name == "sandbox":
        return details.get("access") == "exec" and isinstance(details.get("sandboxed"), bool)
    return name == "cwd" and bool(details.get("cwd"))


def _json(value: Any) -> str:
    import msgspec

    return msgspec.json.encode(value).decode()
