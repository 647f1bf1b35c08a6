"""What an approval shows of a call, each fact once, in lines."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sightline.text import clean_line, clean_text, visible
from sightline.tty import Theme
from sightline.tty.components._exact_lines import ExactDiff, ExactLines, ExactText, Paragraphs
from sightline.views.console.dialogs._dialog_frame import asker

if TYPE_CHECKING:
    from sightline.settings.rules._rules import Access

DOING: "dict[Access, str]" = {"exec": "run", "network": "connect to", "write": "write", "read": "read"}
_OBVIOUS = {("exec", "bash"), ("write", "write"), ("read", "read")}  # the tool is what it does
_SHOWN_ELSEWHERE = ("input", "content", "path")  # where there is a diff
_NO_NEWLINE = "\\ No newline at end of file"
_SIZED_FROM = 200  # characters of one line


def access_of(details: dict[str, object]) -> "Access | None":
    """What kind of access is requested; None: another kind of approval."""
    return next((access for access in DOING if access == details.get("access")), None)


def head(request: dict[str, object], details: dict[str, object], *, comes_first: bool) -> str:
    """The agent, what it is about to do, with which tool, and how much there is to read. Below the command (not
    `comes_first`), in one row, also where."""
    doing = _doing(details)
    about = ", ".join([*_by(details), *_size(details)])
    if not doing:
        return "\n".join(filter(None, (clean_text(str(request.get("text") or "")), about)))
    if comes_first:
        return f"{asker(request)} wants to {doing}{about and f' ({about})'}:"
    place = _where(details)
    return f"{asker(request)} wants to {doing} this{place and f' {place}'}{about and f' ({about})'}"


def warnings(details: dict[str, object]) -> str:
    texts = (clean_text(str(details.get(name) or "")) for name in ("unseen", "about"))
    return "\n".join(f"{words[:1].upper()}{words[1:]}." for words in texts if words)


def where(details: dict[str, object]) -> str:
    """Whether the sandbox, or the folder, holds it."""
    words = _where(details)
    return f"{words[:1].upper()}{words[1:]}" if _doing(details) else ""


def circumstances(details: dict[str, object]) -> str:
    """The folder, and why it needs approval."""
    return "\n".join(_circumstances(details))


def what_lines(details: dict[str, object], theme: Theme) -> list[ExactLines]:
    what = details.get("shown") or details.get("what") or ""
    is_command = details.get("access") == "exec"
    parts: list[ExactLines] = [ExactText(visible(str(what)), "bash" if is_command else "", "strong", theme=theme)]
    diff = details.get("diff")
    if isinstance(diff, str) and diff:
        parts.append(ExactDiff(diff, path=str(what), theme=theme))
    return parts


def other_arguments(details: dict[str, object]) -> str:
    """Arguments that are not shown otherwise."""
    return "\n".join(_other_arguments(details))


def _doing(details: dict[str, object]) -> str:
    access = access_of(details)
    return DOING[access] if access else ""


def _size(details: dict[str, object]) -> Iterator[str]:
    """Of a change, or of a command too long to be read at a glance."""
    diff, what = details.get("diff"), str(details.get("shown") or details.get("what") or "")
    if isinstance(diff, str) and diff:
        yield f"{_change(diff, details)}, {_bytes(_added(diff))}"
    elif details.get("access") == "exec" and ("\n" in what or len(what) > _SIZED_FROM):
        yield f"{_lines(what)}, {_bytes(what)}"


def _change(diff: str, details: dict[str, object]) -> str:
    added, removed = details.get("added"), details.get("removed")
    if not isinstance(added, int) or not isinstance(removed, int):
        return _lines(diff)
    if diff.startswith("--- /dev/null\n") and not removed:
        return f"new file, {_counted(added)}"
    return f"{_counted(added)} added, {removed:,} removed"


def _added(diff: str) -> str:
    """The added lines of a diff, without their marks; the last one as it ends."""
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


def _circumstances(details: dict[str, object]) -> Iterator[str]:
    place = _where(details)
    passed = details.get("passed")
    if isinstance(passed, list) and passed:
        yield f"gets: {clean_line(', '.join(map(str, passed)))} (permissions.pass_env)"
    if details.get("cwd"):
        yield f"folder: {clean_line(str(details['cwd']))}"
    why = clean_line(str(details.get("why") or ""))
    if why and not (place and place in why):
        yield f"why: {why}"


def _where(details: dict[str, object]) -> str:
    """Empty where that is not known. A reason that names the place stands for it."""
    if details.get("access") == "exec" and isinstance(details.get("sandboxed"), bool):
        return "in the sandbox" if details["sandboxed"] else "outside the sandbox"
    why = clean_line(str(details.get("why") or ""))
    return why if details.get("outside") is True else ""


def _by(details: dict[str, object]) -> Iterator[str]:
    tool, access = clean_line(str(details.get("tool") or "")), access_of(details)
    if tool and access and (access, tool.lower()) not in _OBVIOUS:
        yield tool


def _other_arguments(details: dict[str, object]) -> Iterator[str]:
    args, has_diff = details.get("args"), bool(details.get("diff"))
    known = (details.get("what"), details.get("shown"))
    for name, value in args.items() if isinstance(args, dict) else ():
        if value in known or (has_diff and name in _SHOWN_ELSEWHERE) or _is_in_head(name, details):
            continue
        text = value if isinstance(value, str) else _json(value)
        yield visible(f"{name}: {text}")


def _is_in_head(name: str, details: dict[str, object]) -> bool:
    """Whether an argument is in the head already, in words."""
    if name == "sandbox":
        return details.get("access") == "exec" and isinstance(details.get("sandboxed"), bool)
    return name == "cwd" and bool(details.get("cwd"))


def _json(value: object) -> str:
    import msgspec

    return msgspec.json.encode(value).decode()


def paragraphs(text: str, role: str | None, theme: Theme) -> list[ExactLines]:
    return [Paragraphs(text, role, theme=theme)] if text else []
