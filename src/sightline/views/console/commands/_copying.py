"""`/copy`: the source of what is shown, without anything the screen added."""

import re
from typing import TYPE_CHECKING

from sightline.transcript import TranscriptCall, TranscriptText

if TYPE_CHECKING:
    from sightline.views.console._console import Console

_fence = re.compile(r"^(`{3,}|~{3,})[^\n]*\n(.*?)^\1[ \t]*$", re.DOTALL | re.MULTILINE)


def copy(console: "Console", args: str) -> None:
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
