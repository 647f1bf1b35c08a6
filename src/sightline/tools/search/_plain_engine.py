"""Searching without ripgrep: Python's regular expressions, one core, a few milliseconds at a time.

A file is first searched as one text, or for the letters of a pattern that is nothing else, which tells most files apart
quickly; only one that has a match is searched line by line, so that no match crosses lines that must not.
"""

import asyncio
import os
import re
import time
from collections.abc import Iterator

from sightline.tools._globs import expression
from sightline.tools._walk import walk
from sightline.tools.search._collect import Collector, path_order
from sightline.tools.search._query import BadPattern, Found, Query, Target

_SLICE = 0.05
_SYNTAX = re.compile(r"[\\.^$*+?()\[\]{}|]")
# Where a text begins and ends is not where its lines do: such a pattern is tried on the lines at once.
_TEXT_EDGES = re.compile(r"\\[AzZ]")


async def search(query: Query) -> Found:
    collector = Collector(query, in_order=True)
    steps = _steps(query, _compiled(query), collector)
    while not collector.satisfied and await asyncio.to_thread(_some, steps):
        pass
    return collector.found()


def _some(steps: Iterator[None]) -> bool:
    """Go on for a moment; whether there is more to do. Between two moments the search can be cancelled."""
    until = time.monotonic() + _SLICE
    return any(time.monotonic() > until for _ in steps)


def _compiled(query: Query) -> re.Pattern[str]:
    pattern = re.sub(r"\(\?<(?![=!])", "(?P<", query.pattern).replace(r"\z", r"\Z")
    try:
        return re.compile(pattern, re.MULTILINE | (re.IGNORECASE if query.ignore_case else 0))
    except (re.error, OverflowError, RecursionError) as error:
        raise BadPattern(f"{error} (there is no ripgrep here: patterns are Python's)") from None


def _steps(query: Query, pattern: re.Pattern[str], collector: Collector) -> Iterator[None]:
    """One step per file."""
    literal = b"" if query.ignore_case or _SYNTAX.search(query.pattern) else query.pattern.encode("utf-8", "replace")
    for path in _files(query):
        text = _text(path, literal)
        if text is not None:
            _search_text(path, text, query, pattern, collector)
        yield
        if collector.satisfied:
            return


def _files(query: Query) -> Iterator[str]:
    for target in sorted(query.targets, key=lambda target: path_order(str(target.path))):
        if target.is_file:
            yield str(target.path)
        else:
            yield from _files_below(target, query)


def _files_below(target: Target, query: Query) -> Iterator[str]:
    wanted = re.compile(expression(target.glob), re.DOTALL) if target.glob else None
    for name in walk(str(target.path), ignoring=query.gitignore):
        if wanted is None or wanted.fullmatch(name):
            yield os.path.join(target.path, name)


def _text(path: str, literal: bytes) -> str | None:
    """None when it cannot be read, is not text, or does not contain the letters a pattern consists of."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError:
        return None
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    if literal not in data:
        return None
    return None if b"\0" in data else data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")


def _search_text(path: str, text: str, query: Query, pattern: re.Pattern[str], collector: Collector) -> None:
    if not _TEXT_EDGES.search(pattern.pattern) and not pattern.search(text):
        return
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    if query.multiline:
        matched = _crossing(text, pattern)
    else:
        matched = [number for number, line in enumerate(lines) if pattern.search(line)]
    numbers = set(matched[: query.per_file + 1] if not any(target.ranges for target in query.targets) else matched)
    shown = sorted({near for n in numbers for near in range(n - query.before, n + query.after + 1)})
    for number in shown:
        if 0 <= number < len(lines):
            collector.add(path, number + 1, number in numbers, lines[number].encode("utf-8", "replace"))


def _crossing(text: str, pattern: re.Pattern[str]) -> list[int]:
    """The lines, counted from 0, that a match of several lines covers."""
    found: list[int] = []
    for match in pattern.finditer(text):
        first = text.count("\n", 0, match.start())
        last = first + match[0].removesuffix("\n").count("\n")
        found += [line for line in range(first, last + 1) if not found or line > found[-1]]
    return found
