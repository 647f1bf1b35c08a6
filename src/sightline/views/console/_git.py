"""The git branch of a folder, read without running git."""

from pathlib import Path

from sightline.text import clean_line


def branch_of(folder: str) -> str:
    """The branch, or the beginning of a commit where there is none; empty outside a repository."""
    try:
        head = _head(Path(folder)).read_text(errors="replace").strip()
    except (OSError, ValueError):  # a NUL is in no path
        return ""
    name = head.removeprefix("ref: refs/heads/")
    return clean_line(name if name != head else head[:8])


def _head(folder: Path) -> Path:
    for place in (folder, *folder.parents):
        git = place / ".git"
        if git.is_dir():
            return git / "HEAD"
        if git.is_file():  # a worktree, or a submodule
            target = git.read_text(errors="replace").strip().removeprefix("gitdir: ")
            return Path(place, target, "HEAD")
    raise FileNotFoundError
