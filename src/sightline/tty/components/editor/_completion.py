"""Completions: what the text before the cursor could become.

A provider is asked with the line up to the cursor and answers through a callback, at once or later; an answer to a
question that is no longer asked is dropped. It says how many characters before the cursor an accepted value replaces,
and by how many of them the items are ranked. Providers are asked again as the person types; meanwhile the items that
are shown are narrowed at once.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from time import perf_counter
from typing import Protocol

import msgspec

from sightline.tty.components._select import Item
from sightline.tty.frame._scheduler import CallLater

_AT_MOST = 2000
_SLICE = 0.003


class CompletionRequest(msgspec.Struct, frozen=True):
    """Where the cursor is: the line up to it, which line that is, and whether completion was asked for by key."""

    before: str
    line: int = 0
    explicit: bool = False


class Completions(msgspec.Struct, frozen=True):
    """Items, in any order; `value` of the chosen one replaces `replaces` characters before the cursor."""

    items: tuple[Item, ...]
    replaces: int
    ranked_by: int
    in_order: bool = False  # they are ranked already: of those that match, the first is the best
    submits: bool = False  # enter on one of them also submits the text; tab only accepts it


Deliver = Callable[[Completions | None], None]


class CompletionProvider(Protocol):
    """Somebody who knows completions."""

    def complete(self, request: CompletionRequest, deliver: Deliver) -> None:
        """Call `deliver` with completions, or with None when there are none here. Never block for long."""


class StaticCompletion:
    """Words known beforehand, offered once one begins with the trigger: commands after a slash."""

    def __init__(self, trigger: str, items: Iterable[Item], *, only_at_start: bool = False) -> None:
        self._items = tuple(items)
        anywhere = "" if only_at_start else r".*(?<!\S)"
        self._word = re.compile(rf"{anywhere}({re.escape(trigger)}\S*)", re.DOTALL)
        self._only_at_start = only_at_start

    def complete(self, request: CompletionRequest, deliver: Deliver) -> None:
        word = self._word.fullmatch(request.before)
        if word is None or (self._only_at_start and request.line > 0):
            deliver(None)
            return
        deliver(Completions(self._items, len(word[1]), len(word[1])))


class FileCompletion:
    """Files below a folder, after a trigger: `@src/ma` offers what is in `src`.

    A folder is read a few milliseconds at a time and never further than two thousand entries.
    """

    def __init__(self, root: str, *, trigger: str = "@", call_later: CallLater | None = None) -> None:
        self._root = root
        self._trigger = trigger
        self._call_later = call_later
        self._word = re.compile(rf".*(?<!\S)({re.escape(trigger)}\S*)", re.DOTALL)

    def complete(self, request: CompletionRequest, deliver: Deliver) -> None:
        word = self._word.fullmatch(request.before)
        if word is None:
            deliver(None)
            return
        folder, slash, name = word[1].removeprefix(self._trigger).rpartition("/")
        listing = self._list(folder + slash, hidden=name.startswith("."))
        self._read(listing, [], lambda items: deliver(Completions(items, len(word[1]), len(name)) if items else None))

    def _list(self, folder: str, *, hidden: bool) -> Iterator[Item]:
        try:
            with os.scandir(os.path.join(self._root, os.path.expanduser(folder))) as entries:
                for entry in entries:
                    if hidden or not entry.name.startswith("."):
                        yield self._item(folder, entry.name, is_folder=entry.is_dir())
        except (OSError, ValueError):
            return  # a folder that cannot be read, or is none, offers nothing

    def _item(self, folder: str, name: str, *, is_folder: bool) -> Item:
        if is_folder:
            return Item(f"{self._trigger}{folder}{name}/", f"{name}/")
        return Item(f"{self._trigger}{folder}{name} ", name)

    def _read(self, listing: Iterator[Item], items: list[Item], done: Callable[[tuple[Item, ...]], None]) -> None:
        until = perf_counter() + _SLICE
        for item in listing:
            items.append(item)
            if len(items) >= _AT_MOST:
                break
            if perf_counter() > until and self._call_later is not None:
                self._call_later(0, lambda: self._read(listing, items, done))
                return
            if perf_counter() > until:
                break
        done(tuple(sorted(items, key=lambda item: (not item.label.endswith("/"), item.label.lower()))))
