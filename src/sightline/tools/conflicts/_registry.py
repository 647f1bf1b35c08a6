"""The conflicts a session knows, by id, and their addresses. An id is given out once and means one conflict as it was
shown. Addresses: `conflict://ID`, `conflict://ID/ours` (or theirs, base) and `conflict://*`."""

import re
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import msgspec

from sightline.handles import real_path
from sightline.tools._tool import ToolError
from sightline.tools.conflicts._regions import Region, find_regions, readable

MOST = 1000  # remembered; the oldest are forgotten first, and of a file that has more the first are known
_SCHEME = "conflict://"
_URL = re.compile(r"(\*|[0-9]{1,9})(?:/(.*))?")

Scope = Literal["ours", "theirs", "base"]


class ConflictUrl(msgspec.Struct, frozen=True):
    """`number` is None for all of them."""

    number: int | None
    scope: Scope | None = None


def is_conflict_url(path: str) -> bool:
    return path.strip().lower().startswith(_SCHEME)


def parse_url(url: str) -> ConflictUrl:
    match = _URL.fullmatch(url.strip()[len(_SCHEME) :].rstrip("/"))
    if match is None:
        raise ToolError(
            f"'{url}' names no conflict. Use conflict://3, conflict://3/ours, /theirs, /base, or conflict://*"
        )
    number = None if match[1] == "*" else int(match[1])
    match match[2]:
        case None:
            return ConflictUrl(number)
        case "ours" | "theirs" | "base" as scope if number is not None:
            return ConflictUrl(number, scope)
    raise ToolError(f"'{url}' names no side of a conflict. Use conflict://ID/ours, /theirs or /base.")


class Conflict(msgspec.Struct, frozen=True):
    id: int
    path: Path
    region: Region


class Conflicts:
    """One per session: `context.shared(Conflicts)`."""

    def __init__(self) -> None:
        self._known: dict[int, Conflict] = {}
        self._next = 1
        self._lock = threading.Lock()

    def register(self, path: Path, text: str) -> list[Conflict]:
        """The conflicts in a file's text, in order. One that was there before has the same id; all others of the file
        are forgotten."""
        regions = find_regions(text)[:MOST]
        real = Path(real_path(path))
        with self._lock:
            before = [conflict for conflict in self._known.values() if conflict.path == real]
            for conflict in before:
                del self._known[conflict.id]
            now = [
                Conflict(number, real, region)
                for region, number in zip(regions, self._numbers(regions, before), strict=True)
            ]
            self._known.update((conflict.id, conflict) for conflict in now)
            while len(self._known) > MOST:
                del self._known[next(iter(self._known))]
        return now

    def _numbers(self, regions: list[Region], before: list[Conflict]) -> list[int]:
        """Same words at the same place first: of two that read the same, the one that stayed is meant."""
        left: dict[str, list[Conflict]] = {}
        for conflict in before:
            left.setdefault(readable(conflict.region.text), []).append(conflict)
        numbers: list[int | None] = [None] * len(regions)
        for same_place in (True, False):
            for at, region in enumerate(regions):
                alike = left.get(readable(region.text), [])
                found = next((old for old in alike if not same_place or old.region.first == region.first), None)
                if numbers[at] is None and found is not None:
                    numbers[at] = found.id
                    alike.remove(found)
        return [self._new_number() if number is None else number for number in numbers]

    def _new_number(self) -> int:
        self._next += 1
        return self._next - 1

    def get(self, number: int) -> Conflict:
        with self._lock:
            conflict = self._known.get(number)
        if conflict is None:
            known = self._listed() or "Read FILE:conflicts to find them."
            raise ToolError(f"There is no conflict {number} in this session. {known}")
        return conflict

    def all(self) -> list[Conflict]:
        with self._lock:
            return [self._known[number] for number in sorted(self._known)]

    def paths(self) -> list[Path]:
        return list(dict.fromkeys(conflict.path for conflict in self.all()))

    def forget(self, numbers: Iterable[int]) -> None:
        with self._lock:
            for number in numbers:
                self._known.pop(number, None)

    def _listed(self) -> str:
        numbers = [str(conflict.id) for conflict in self.all()]
        return f"Known: {', '.join(numbers[:20])}{', …' if len(numbers) > 20 else ''}." if numbers else ""
