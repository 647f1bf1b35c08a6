"""What there is to know about something that is to be allowed, each thing once, in lines."""

from collections.abc import Iterator
from typing import Any

from sightline.text import clean_line, clean_text, visible
from sightline.tty import Theme
from sightline.tty.components._exact_lines import ExactDiff, ExactLines, ExactText, Paragraphs
from sightline.views.console.dialogs._dialog_frame import asker

DOING = {"exec": "run", "network": "connect to", "write": "write", "read": "read"}
_OBVIOUS = {("exec", "bash"), ("write", "write"), ("read", "read")}  # the tool is what it does
_SHOWN_ELSEWHERE = ("input", "content", "path")  # where there is a diff
_NO_NEWLINE = "\\ No newline at end of file"
_SIZED_FROM = 200  # characters of one line


def head(request: dict[str, Any], details: dict[str, Any], *, comes_first: bool) -> str:
    """Who wants to do what, with which tool, and how much of it there is to read. Below it, in one row, also where."""
    doing = DOING.get(str(details.get("access")), "")
    about = ", ".join([*_by(details), *_size(details)])
    if not doing:
        return "\n".join(filter(None, (clean_text(str(request.get("text") or "")), about)))
    if comes_first:
        return f"{asker(request)} wants to {doing}{about and f' ({about})'}:"
    place = _where(details)
    return f"{asker(request)} wants to {doing} this{place and f' {place}'}{about and f' ({about})'}"


def warnings(details: dict[str, Any]) -> str:
    """What the rest does not show."""
    texts = (clean_text(str(details.get(name) or "")) for name in ("unseen", "about"))
    return "\n".join(f"{words[:1].upper()}{words[1:]}." for words in texts if words)


def where(details: dict[str, Any]) -> str:
    """Whether the sandbox, or the folder, holds it."""
    words = _where(details)
    return f"{words[:1].upper()}{words[1:]}" if DOING.get(str(details.get("access"))) else ""


def circumstances(details: dict[str, Any]) -> str:
    """In which folder, and why it is asked."""
    return "\n".join(_circumstances(details))


def what_lines(details: dict[str, Any], theme: Theme) -> list[ExactLines]:
    """The command or the change itself."""
    what = details.get("shown") or details.get("what") or ""
    is_command = details.get("access") == "exec"
    parts: list[ExactLines] = [ExactText(visible(str(what)), "bash" if is_command else "", "strong", theme=theme)]
    diff = details.get("diff")
    if isinstance(diff, str) and diff:
        parts.append(ExactDiff(diff, path=str(what), theme=theme))
    return parts


def other_arguments(details: dict[str, Any]) -> str:
    """What the call says besides."""
    return "\n".join(_other_arguments(details))


def _size(details: dict[str, Any]) -> Iterator[str]:
    """Of what is too long to be taken in at a glance."""
    diff, what = details.get("diff"), str(details.get("shown") or details.get("what") or "")
    if isinstance(diff, str) and diff:
        yield f"{_change(diff, details)}, {_bytes(_added(diff))}"
    elif details.get("access") == "exec" and ("\n" in what or len(what) > _SIZED_FROM):
        yield f"{_lines(what)}, {_bytes(what)}"


def _change(diff: str, details: dict[str, Any]) -> str:
    added, removed = details.get("added"), details.get("removed")
    if not isinstance(added, int) or not isinstance(removed, int):
        return _lines(diff)
    if diff.startswith("--- /dev/null\n") and not removed:
        return f"new file, {_counted(added)}"
    return f"{_counted(added)} added, {removed:,} removed"


def _added(diff: str) -> str:
    """What a diff brings, without its marks; its last line as it ends."""
    rows = diff.split("\n")
    marked = [at for at, row in enumerate(rows) if row.startswith("+") and not _is_header(rows, at)]
    return "".join(rows[at][1:] + ("" if rows[at + 1 : at + 2] == [_NO_NEWLINE] else "\n") for at in marked)


def _is_header(rows: list[str], at: int) -> bool:
    return rows[at].startswith("+++ ") and at > 0 and rows[at - 1].startswith("--- ")


def _lines(text: str) -> str:
    return _counted(text.removesuffix("\n").count("\n") + 1)


def _counted(count: int) -> str:
    return f"{count:,} line{'s' * (count != 1)}"


def _bytes(text: str) -> str:
    size = len(text.encode("utf-8", "replace"))
    return f"{size:,} byte{'s' * (size != 1)}" if size < 1024 else f"{size / 1024:,.0f} KB"


def _circumstances(details: dict[str, Any]) -> Iterator[str]:
    place = _where(details)
    passed = details.get("passed")
    if isinstance(passed, list) and passed:
        yield f"gets: {clean_line(', '.join(map(str, passed)))} (permissions.pass_env)"
    if details.get("cwd"):
        yield f"folder: {clean_line(str(details['cwd']))}"
    why = clean_line(str(details.get("why") or ""))
    if why and not (place and place in why):
        yield f"why: {why}"


def _where(details: dict[str, Any]) -> str:
    """A reason that says where is said there."""
    if details.get("access") == "exec" and isinstance(details.get("sandboxed"), bool):
        return "in the sandbox" if details["sandboxed"] else "outside the sandbox"
    why = clean_line(str(details.get("why") or ""))
    return why if details.get("outside") is True else ""


def _by(details: dict[str, Any]) -> Iterator[str]:
    tool = clean_line(str(details.get("tool") or ""))
    if tool and details.get("access") in DOING and (details["access"], tool.lower()) not in _OBVIOUS:
        yield tool


def _other_arguments(details: dict[str, Any]) -> Iterator[str]:
    args, has_diff = details.get("args"), bool(details.get("diff"))
    known = (details.get("what"), details.get("shown"))
    for name, value in args.items() if isinstance(args, dict) else ():
        if value in known or (has_diff and name in _SHOWN_ELSEWHERE) or _is_in_head(name, details):
            continue
        text = value if isinstance(value, str) else _json(value)
        yield visible(f"{name}: {text}")


def _is_in_head(name: str, details: dict[str, Any]) -> bool:
    """Of an argument: it is what the head says in words."""
    if name == "sandbox":
        return details.get("access") == "exec" and isinstance(details.get("sandboxed"), bool)
    return name == "cwd" and bool(details.get("cwd"))


def _json(value: Any) -> str:
    import msgspec

    return msgspec.json.encode(value).decode()


def paragraphs(text: str, role: str | None, theme: Theme) -> list[ExactLines]:
    return [Paragraphs(text, role, theme=theme)] if text else []
