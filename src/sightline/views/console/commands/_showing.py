"""Commands about the transcript: how much of it is shown, and copying from it."""

import re
from typing import TYPE_CHECKING

from sightline.transcript import TranscriptCall, TranscriptText
from sightline.views.console.selectors._viewer import view_output

if TYPE_CHECKING:
    from sightline.views.console._console import Console

_fence = re.compile(r"^(`{3,}|~{3,})[^\n]*\n(.*?)^\1[ \t]*$", re.DOTALL | re.MULTILINE)


def reasoning(console: "Console", args: str) -> None:
    console.show_reasoning(_switched(args, console.drawing.reasoning))
    _report_change(console, "reasoning", console.drawing.reasoning)


def unfold(console: "Console", args: str) -> None:
    console.unfold(_switched(args, console.drawing.unfolded))
    _report_change(console, "more of every block", console.drawing.unfolded)


async def output(console: "Console", args: str) -> None:
    back = int(args) if args.isascii() and args.isdecimal() else 0
    calls = [entry for entry in console.state.shown if isinstance(entry, TranscriptCall)]
    if calls:
        await view_output(console, calls, back)
    else:
        console.hint("no call has been made yet")


def redraw(console: "Console", args: str) -> None:
    console.replay()


def _report_change(console: "Console", what: str, now: bool) -> None:
    """What changes is seen, but not heard."""
    if console.drawing.linear:
        console.report(f"{what} is read aloud from now on" if now else f"{what} is no longer read aloud")


def _switched(args: str, now: bool) -> bool:
    return {"on": True, "off": False}.get(args, not now)


def copy(console: "Console", args: str) -> None:
    """Copy the source of what is shown, without anything the screen added."""
    what, text = _selection(console, args.strip())
    if not text:
        console.report(f"no {what} to copy", "warning", "/copy [all|code|output]")
        return
    console.copy(text)
    console.report(f"copied the {what}: {len(text):,} characters")


def _selection(console: "Console", kind: str) -> tuple[str, str]:
    if kind == "all":
        return "conversation", "\n\n".join(source for block in console.transcript.blocks if (source := block.source))
    if kind == "output":
        calls = [e for e in console.state.shown if isinstance(e, TranscriptCall) and e.content is not None]
        return "output", (calls[-1].output or calls[-1].content or "") if calls else ""
    answer = last_answer(console)
    if kind == "code":
        blocks = _fence.findall(answer)
        return "code block", blocks[-1][1].removesuffix("\n") if blocks else ""
    return "answer", answer


def last_answer(console: "Console") -> str:
    """The source of the agent's last answer."""
    for entry in reversed(console.state.shown):
        if isinstance(entry, TranscriptText) and not entry.reasoning and not entry.agent and entry.text.strip():
            return entry.text
    return ""
