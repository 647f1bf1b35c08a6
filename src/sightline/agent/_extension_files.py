"""Where extension files are, and which of them count. What loads them is imported only when there are some."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from sightline.events import Notice
from sightline.settings import extension_folders, is_trusted

if TYPE_CHECKING:
    from sightline.agent._agent import Agent


def add_extensions(agent: "Agent", environ: Mapping[str, str]) -> None:
    """Load the person's own, then the project's if its folder is trusted. What is left out is told."""
    if not agent.settings.extensions.enabled:
        return
    own, project = extension_folders(agent.workplace.cwd, environ)
    files = _files(own)
    theirs = _files(project) if project is not None and not _same(project, own) else []
    if theirs and project is not None and not is_trusted(project):
        hint = "read them, then trust the folder with `sightline config trust`"
        text = f"{len(theirs)} extension{'s' * (len(theirs) > 1)} of this project not loaded: the folder is not trusted"
        agent.stage.publish(Notice(text, "warning", hint, source="agent"))
        theirs = []
    if files or theirs:
        from sightline.agent._extensions import load_extensions

        load_extensions(agent, [*files, *theirs])


def _same(project: Path, own: Path) -> bool:
    """With `SIGHTLINE_HOME` in the project, its extensions are the person's own."""
    return project.resolve() == own.resolve()


def _files(folder: Path) -> list[Path]:
    """By name. A name that begins with an underscore or a dot is not an extension's."""
    try:
        names = sorted(file for file in folder.glob("*.py") if file.is_file())
    except OSError:
        return []
    return [file for file in names if not file.name.startswith(("_", "."))]
