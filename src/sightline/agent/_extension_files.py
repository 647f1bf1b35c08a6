"""Where extension files are, and which of them count. What loads them is imported only when there are some."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from sightline.events import Notice
from sightline.settings import extension_folders, project_of, why_not_trusted

if TYPE_CHECKING:
    from sightline.agent._agent import Agent


def add_extensions(agent: "Agent", environ: Mapping[str, str]) -> None:
    """Load the person's own, then the project's if its folder is trusted. What is left out is told."""
    if not agent.settings.extensions.enabled:
        return
    own, project = extension_folders(agent.workplace.cwd, environ)
    files = _files(own)
    theirs = _files(project) if project is not None and not _same(project, own) else []
    if theirs and project is not None and (why := why_not_trusted(project_of(project))):
        agent.stage.publish(_left_out(theirs, project, why))
        theirs = []
    if files or theirs:
        from sightline.agent._extensions import load_extensions

        load_extensions(agent, [*files, *theirs])


def _left_out(files: list[Path], project: Path, why: str) -> Notice:
    import shlex

    trust = f"sightline config trust {shlex.quote(str(project_of(project)))}"
    text = f"{len(files)} extension{'s' * (len(files) > 1)} of this project not loaded: "
    if why == "not trusted":
        return Notice(text + "the folder is not trusted", "warning", f"read them, then `{trust}`", source="agent")
    return Notice(f"{text}{project.parent} {why}", "warning", f"look at it, then `{trust}` again", source="agent")


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
