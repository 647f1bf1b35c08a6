"""Which extensions a session loads. The loader is imported only when there are some."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from sightline.events import Notice
from sightline.settings import Trust, extension_folders, project_of

if TYPE_CHECKING:
    from sightline.agent._agent import Agent


def add_extensions(agent: "Agent", environ: Mapping[str, str]) -> None:
    """Load the user's own, then the project's if its folder is trusted. What is left out is reported."""
    if not agent.workplace.settings.extensions.enabled or not _is_any(agent.workplace.cwd, environ):
        return
    from sightline._extension_files import extension_files

    found = extension_files(agent.workplace.cwd, environ)
    if found.left_out and found.project is not None:
        agent.actor.publish(not_trusted_notice(found.left_out, found.project, found.trust))
    if found.files:
        from sightline.agent.extensions._extensions import load_extensions

        load_extensions(agent, found.files)


def _is_any(cwd: Path, environ: Mapping[str, str]) -> bool:
    """Most sessions have none, and do not wait for the loader."""
    own, project = extension_folders(cwd, environ)
    return project is not None or os.path.isdir(own)


def not_trusted_notice(files: list[Path], project: Path, state: Trust) -> Notice:
    """That a project's files are left out, and how to trust them."""
    import shlex

    trust = f"sightline config trust {shlex.quote(str(project_of(project)))}"
    text = f"{len(files)} extension{'s' * (len(files) > 1)} of this project not loaded: "
    if state == "untrusted":
        return Notice(text + "the folder is not trusted", "warning", f"read them, then `{trust}`")
    return Notice(
        f"{text}{project.parent} changed since you trusted it", "warning", f"look at it, then `{trust}` again"
    )
