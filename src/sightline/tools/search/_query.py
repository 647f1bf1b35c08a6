"""What is searched for and where, and what was found: the vocabulary of the tool."""

from collections.abc import Callable
from pathlib import Path

import msgspec

from sightline.tools.files._selectors import LineRange

FILES_PER_PAGE = 20
MATCHES_PER_FILE = 20  # in a search over several files
MATCHES_OF_ONE_FILE = 200
MATCHES_IN_ANY_ORDER = 2000  # after so many, files are searched in the order of their paths, as far as the page goes
LINE_CHARACTERS = 512
MULTILINE_BYTES = 256 * 1024 * 1024  # of a file searched across lines: it is held in memory whole


class SearchTarget(msgspec.Struct, frozen=True):
    """A file, or a folder and which of its files (empty: all). `label`: how what was not named by its path is shown.
    `editable`: whether it is a file of the user's, and neither made for the search nor immutable."""

    path: Path
    is_file: bool = True
    glob: str = ""
    ranges: tuple[LineRange, ...] = ()
    label: str = ""
    editable: bool = True


class SearchPattern(msgspec.Struct, frozen=True, kw_only=True):
    """What is searched for. `before`, `after`: lines shown around a match."""

    pattern: str
    multiline: bool
    ignore_case: bool
    gitignore: bool
    before: int
    after: int


class SearchQuery(SearchPattern, frozen=True, kw_only=True):
    skip: int
    targets: list[SearchTarget]
    is_denied: Callable[[str], bool] | None = None  # files a rule forbids reading

    @property
    def single(self) -> bool:
        """Whether it is about one file: more of its matches are shown then, and there are no pages."""
        return len(self.targets) == 1 and self.targets[0].is_file

    @property
    def per_file(self) -> int:
        return MATCHES_OF_ONE_FILE if self.single else MATCHES_PER_FILE

    @property
    def first(self) -> int:
        """Files before the page."""
        return 0 if self.single else self.skip

    @property
    def enough(self) -> int:
        """Files after which the page is full."""
        return self.first + FILES_PER_PAGE


class MatchLine(msgspec.Struct, frozen=True):
    number: int
    matched: bool
    raw: bytes

    @property
    def text(self) -> str:
        return self.raw.removesuffix(b"\r").decode("utf-8", "replace")


class FileMatches(msgspec.Struct):
    """The lines of one file that matched and those around them, in order; `more` matches were left out."""

    path: str
    lines: list[MatchLine] = []
    matches: int = 0
    more: bool = False


class SearchPage(msgspec.Struct, frozen=True, kw_only=True):
    """The files of the page in the order of their paths. `problem`: why it may be a part of what there is.
    `unreadable`: what was named and could not be read, with the reason."""

    hits: list[FileMatches]
    more_files: bool = False
    problem: str = ""
    unreadable: list[str] = []


class BadPattern(Exception):
    """The engine's complaint about a pattern."""
