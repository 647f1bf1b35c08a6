"""A workspace with files the model has seen, and edits of them."""

from pathlib import Path

import pytest

from sightline.tools import ToolContext, ToolError
from sightline.tools.edit import EditTool
from sightline.tools.hashline import Snapshots

from ..support import run


class Desk:
    """Files by name, and the tool."""

    def __init__(self, context: ToolContext) -> None:
        self.context = context

    def path(self, name: str) -> Path:
        return self.context.cwd / name

    def put(self, name: str, content: str | bytes) -> Path:
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def show(self, name: str, content: str) -> str:
        """Write a file and give out its tag, as read does."""
        return self.context.shared(Snapshots).record(self.put(name, content), content)

    def text(self, name: str) -> str:
        return self.path(name).read_bytes().decode()

    async def edit(self, patch: str):
        return await run(EditTool(), self.context, input=patch)

    async def refused(self, patch: str) -> str:
        before = self.files()
        with pytest.raises(ToolError) as caught:
            await self.edit(patch)
        assert self.files() == before
        return caught.value.message

    def files(self) -> dict[str, bytes]:
        found = sorted(path for path in self.context.cwd.rglob("*") if path.is_file())
        return {str(path): path.read_bytes() for path in found}
