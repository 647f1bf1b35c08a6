"""Which files define something in a folder, agents or slash commands: the project's, then the user's.

Rules:

- A project's count in a folder the user trusts, as they were when that was found out; they are not read again. For
  others there is one notice: how many, and how to trust them.
- A link in a project must not lead out of it. The user's own may lead anywhere.
- A folder that a variable names as the user's, in the project, is the project's: the files of a project may set it.
- Nothing here waits or raises, whatever a path turns out to be: what cannot be used has a reason.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Literal

import msgspec

from sightline.exceptions import SightlineError
from sightline.handles import NotRegular, ours, read_at_most
from sightline.settings._agent_files import markdown_files, project_folders
from sightline.settings._places import home_of, named_user_folder, up_to_the_repository
from sightline.settings._trust import Trust, untrusted_notice
from sightline.text import clean_line, cut_graphemes

LONGEST_NOTICE = 500

FileStyle = Literal["sightline", "claude", "opencode"]
_STYLES: dict[str, FileStyle] = {".claude": "claude", ".opencode": "opencode"}


class SearchedFolders(msgspec.Struct, frozen=True):
    """Where one kind of definition is looked for."""

    word: str  # what one of them is called
    project: tuple[str, ...]
    own: Callable[[Mapping[str, str]], Path]  # of the user
    trusted: Callable[[Path], tuple[Trust, dict[Path, bytes]]]
    claude: tuple[str, ...] = ()  # in the user's folders of other programs
    opencode: tuple[str, ...] = ()


class FoundFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file, and its content or why that is not used."""

    path: Path
    folder: Path  # the one that is searched
    source: Literal["project", "user"]
    style: FileStyle
    data: bytes = b""
    problem: str = ""


class FoundDefinitions(msgspec.Struct, frozen=True):
    """In their order of precedence. `untrusted`: of projects that are not trusted, which are not read."""

    files: list[FoundFile]
    untrusted: list[FoundFile]
    notices: list[str]


def search_definitions(
    cwd: Path, environ: Mapping[str, str], folders: SearchedFolders, *, most: int
) -> FoundDefinitions:
    """`most`: bytes of a file. Of a longer one some more than that are returned."""
    search = _Search(cwd, environ, folders, most)
    files = [*search.of_project(), *search.of_user()]
    return FoundDefinitions(files, search.untrusted, search.notices)


class _Search:
    def __init__(self, cwd: Path, environ: Mapping[str, str], folders: SearchedFolders, most: int) -> None:
        self.untrusted: list[FoundFile] = []
        self.notices: list[str] = []
        self._cwd = Path(os.path.abspath(cwd))
        self._root = os.path.realpath(up_to_the_repository(self._cwd)[-1])
        self._environ = environ
        self._folders = folders
        self._most = most
        self._home = home_of(environ)
        self._own = self._user_folders()

    def of_project(self) -> list[FoundFile]:
        own = {os.path.realpath(folder) for folder, _ in self._own}
        folders = [
            (project, name)
            for project, name in project_folders(self._cwd, self._folders.project)
            if os.path.realpath(project / name) not in own
        ]
        looked_at = {project: self._folders.trusted(project) for project, _ in folders}
        found: list[FoundFile] = []
        left_out: dict[Path, tuple[Trust, int]] = {}
        for project, name in folders:
            trust, content = looked_at[project]
            if trust == "trusted":
                found += self._trusted(project, name, content)
                continue
            why = "it changed since you trusted its folder" if trust == "changed" else "its folder is not trusted"
            files = [self._file(path, project / name, "project", problem=why) for path in self._files(project / name)]
            self.untrusted += files
            if files:
                left_out[project] = trust, len(files) + left_out.get(project, (trust, 0))[1]
        if left_out:
            self.notices.insert(0, _shown(untrusted_notice(self._folders.word, left_out)))
        return found

    def _trusted(self, project: Path, name: str, content: Mapping[Path, bytes]) -> Iterator[FoundFile]:
        real = Path(os.path.realpath(project))
        for path, data in content.items():
            if path.is_relative_to(real / name):
                leads_out = not _is_in(path, self._root)
                why = "it is a link that leads outside the project" if leads_out else ""
                file = project / path.relative_to(real)
                yield self._file(file, project / name, "project", b"" if leads_out else data, why)

    def of_user(self) -> Iterator[FoundFile]:
        for folder, style in self._own:
            for path in self._files(folder):
                data, why = self._content(path)
                yield FoundFile(path=path, folder=folder, source="user", style=style, data=data, problem=why)

    def _content(self, path: Path) -> tuple[bytes, str]:
        """And why there is none."""
        try:
            with ours(path):
                return read_at_most(path, self._most + 1), ""
        except NotRegular:
            return b"", "it is not a file"
        except (OSError, ValueError) as error:
            return b"", getattr(error, "strerror", None) or "it cannot be read"

    def _user_folders(self) -> list[tuple[Path, FileStyle]]:
        claude = self._named("CLAUDE_CONFIG_DIR", self._home / ".claude") if self._folders.claude else self._home
        config = self._named("XDG_CONFIG_HOME", self._home / ".config") if self._folders.opencode else self._home
        theirs: list[tuple[Path, FileStyle]] = [(claude / name, "claude") for name in self._folders.claude]
        theirs += [(config / "opencode" / name, "opencode") for name in self._folders.opencode]
        return [(self._folders.own(self._environ), "sightline"), *theirs]

    def _named(self, variable: str, usual: Path) -> Path:
        folder, is_theirs = named_user_folder(self._cwd, self._environ, variable, usual)
        if not is_theirs:
            word = self._folders.word
            self._note(f"{variable} names a folder in this project: {word}s in it are the project's, and not yours")
        return folder

    def _file(
        self, path: Path, folder: Path, source: Literal["project", "user"], data: bytes = b"", problem: str = ""
    ) -> FoundFile:
        top = folder.parent.name
        return FoundFile(
            path=path, folder=folder, source=source, style=_STYLES.get(top, "sightline"), data=data, problem=problem
        )

    def _files(self, folder: Path) -> Iterator[Path]:
        try:
            yield from markdown_files(folder)
        except SightlineError as error:
            self._note(f"{error.message}; {error.hint}")

    def _note(self, notice: str) -> None:
        self.notices.append(_shown(notice))


def _is_in(path: str | Path, folder: str) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(folder)


def _shown(notice: str) -> str:
    return cut_graphemes(clean_line(notice), LONGEST_NOTICE)
