"""One command, run by a session's `bash`."""

from pathlib import Path
from typing import Any

from sightline.conversation import ToolMessage, text_of
from sightline.events import ToolResult
from tests.agent.support import Lab, lab


class Ran:
    """What became of it: the text for the model, the event for views, and the session it ran in."""

    def __init__(self, here: Lab) -> None:
        self.here = here
        self.seen = list(here.seen)
        self.result = here.of(ToolResult)[0]
        self.message = next(m for m in here.messages if isinstance(m, ToolMessage))
        self.text = text_of(self.message)
        self.details: dict[str, Any] = self.result.details or {}

    @property
    def artifact(self) -> bytes:
        """All of its output, as its artifact has it."""
        folder = self.here.store.folder(self.here.session.id)
        return (folder / "artifacts" / f"{self.result.id}.out").read_bytes()


def bash(command: str, **more: Any) -> dict[str, Any]:
    """Its arguments come in one piece: a long command in small ones would be more than a watcher here can follow."""
    return {"tool": "bash", "args": {"command": command, **more}, "chunk": 1_000_000}


async def ran(folder: Path, command: str, *, settings: Any = None, **more: Any) -> Ran:
    async with lab(folder, [[bash(command, **more)], [{"text": "ok"}]], settings=settings) as here:
        await here.run()
        return Ran(here)
