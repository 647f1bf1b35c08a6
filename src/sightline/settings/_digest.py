"""What a project's settings and extensions come to, in one word: the same as long as nothing in them changes.

Rules:

- It covers `.sightline/settings.toml` and every file below `.sightline/extensions`, by name and content. Links are
  followed: what counts is what would be read.
- A project without any has a digest as well.
- The definitions of agents and those of slash commands (`_agent_files.py`) each have a word of their own, empty
  where there are none. Commands the agent runs may write some of their folders: what they write there, or make
  unreadable, must not end the use of the project's settings, which may hold rules that deny.
- Skills (`_skill_files.py`) have one, too, for the same reason: of all files in their folders, since what a skill names
  is read and run as it says.
- What was read for it is returned with it, so that what is used is what was looked at, and no file is read again that
  may be another one by then.
- There is an end to it: what is larger than that is a UserMistake, and so cannot be trusted.
"""

import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from sightline.exceptions import UserMistake
from sightline.handles import NotRegular, ours, read_at_most
from sightline.settings._agent_files import AGENT_FOLDERS, COMMAND_FOLDERS, markdown_files
from sightline.settings._files import UnreadableFile
from sightline.settings._places import EXTENSIONS, FILE_NAME, PROJECT_FOLDER
from sightline.settings._skill_files import project_skill_files

_MOST_NAMES = 5000
_MOST_BYTES = 32 * 1024 * 1024
NOTHING = hashlib.sha256().hexdigest()


class Digest(msgspec.Struct, frozen=True):
    """The word, and the content of each file it covers."""

    word: str
    files: dict[Path, bytes]


def digest_of(project: Path) -> Digest:
    """UserMistake or Unreadable when there is too much, or some cannot be read."""
    folder = project / PROJECT_FOLDER
    return _digest(folder, _files(folder))


def agents_digest_of(project: Path) -> Digest:
    """The same for its definitions of agents."""
    return _definitions_digest_of(project, AGENT_FOLDERS)


def commands_digest_of(project: Path) -> Digest:
    """And of slash commands."""
    return _definitions_digest_of(project, COMMAND_FOLDERS)


def skills_digest_of(project: Path) -> Digest:
    """And of skills, with all their files."""
    return _unless_empty(_digest(project, project_skill_files(project)))


def _definitions_digest_of(project: Path, folders: Iterable[str]) -> Digest:
    return _unless_empty(_digest(project, (path for name in folders for path in markdown_files(project / name))))


def _unless_empty(digest: Digest) -> Digest:
    return digest if digest.files else Digest("", {})


def _digest(folder: Path, paths: Iterable[Path]) -> Digest:
    whole, left = hashlib.sha256(), _MOST_BYTES
    files: dict[Path, bytes] = {}
    for path in sorted(paths):
        data = _content(path, left)
        if data is None:
            continue
        left -= len(data)
        files[path] = data
        for part in (os.fsencode(path.relative_to(folder)), data):
            whole.update(b"%d:" % len(part) + part)
    return Digest(whole.hexdigest(), files)


def _files(folder: Path) -> Iterator[Path]:
    yield folder / FILE_NAME
    seen = 0
    for place, folders, names in os.walk(folder / EXTENSIONS, onerror=_unless_missing, followlinks=True):
        seen += len(folders) + len(names)
        if seen > _MOST_NAMES:  # a link may lead back up, without end
            raise _too_much(folder)
        yield from (Path(place, name) for name in names)


def _unless_missing(error: OSError) -> None:
    if not isinstance(error, (FileNotFoundError, NotADirectoryError)):
        raise UnreadableFile(Path(error.filename), error.strerror or str(error)) from None


def _content(path: Path, most: int) -> bytes | None:
    """None for what is no file, or leads nowhere: nothing can be read there."""
    try:
        with ours(path):
            data = read_at_most(path, most + 1)
    except (FileNotFoundError, NotADirectoryError, NotRegular):
        return None
    except OSError as error:
        raise UnreadableFile(path, error.strerror or str(error)) from None
    if len(data) > most:
        raise _too_much(path)
    return data


def _too_much(path: Path) -> UserMistake:
    return UserMistake(
        f"too many settings, extensions, agents or skills to check: {path}",
        f"keep at most {_MOST_NAMES} files and {_MOST_BYTES // 1024 // 1024} MB of them in a project",
    )
