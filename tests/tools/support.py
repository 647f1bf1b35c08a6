"""A place for a tool to run in: a folder, settings, a shelf for artifacts."""

from pathlib import Path
from typing import Any

import msgspec

from sightline.settings import Settings
from sightline.tools import Outcome, Tool, ToolContext, Workplace
from sightline.tools.files._selectors import Selector


class Shelf:
    """Artifacts as files of one folder, named by their place in it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def store(self, name: str, data: bytes) -> str:
        self._folder.mkdir(parents=True, exist_ok=True)
        (self._folder / name).write_bytes(data)
        return f"artifact://aaaaaa/{name}"

    def find(self, url: str) -> Path | None:
        path = self._folder / url.rsplit("/", 1)[-1]
        return path if path.is_file() else None


def make_settings(**sections: dict[str, Any]) -> Settings:
    """`make_settings(read={"default_limit": 5})`."""
    return msgspec.convert(sections, Settings)


def make_context(folder: Path, **sections: dict[str, Any]) -> ToolContext:
    """The workspace is `folder/work`; what is kept is beside it."""
    work = folder / "work"
    work.mkdir(exist_ok=True)
    workplace = Workplace(
        work, settings=make_settings(**sections), artifacts=Shelf(folder / "artifacts"), local=folder / "local"
    )
    return ToolContext("aaaaaa-1", workplace)


def spelled(selector: Selector | None) -> str:
    """A selector as it stands behind a path."""
    if selector is None:
        return ""
    ranges = ",".join(f"{one.first}-{'' if one.last is None else one.last}" for one in selector.ranges)
    return "".join(f":{part}" for part in (ranges, "raw" * selector.raw, "conflicts" * selector.conflicts) if part)


async def run(tool: Tool[Any], context: ToolContext, **args: Any) -> Outcome:
    """Call a tool as the loop does: arguments decoded into its parameters first."""
    return await tool.execute(msgspec.convert(args, tool.params), context)
