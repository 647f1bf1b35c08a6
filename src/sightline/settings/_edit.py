"""Changing one setting in a file that a user wrote: its own line, and nothing else.

Comments, order and spelling stay. The new text is parsed before it is written: when it would not hold exactly the
requested change, the file is left alone and the user learns where to change it.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from sightline.exceptions import UserMistake
from sightline.settings._fields import Key
from sightline.settings._files import held, replace
from sightline.settings._sources import parse_toml, read_settings_text
from sightline.settings._toml import TomlEntry, entries, join_key, line_of, written


def set_in_file(path: Path, key: Key, value: object, *, private: bool = True) -> None:
    """Write a value that has passed its type."""
    change_in_file(path, key, lambda _: value, private=private)


def change_in_file(path: Path, key: Key, change: Callable[[object], object], *, private: bool = True) -> None:
    """Write what `change` makes of the value that is there (None: there is none). No other process writes meanwhile."""
    with held(path, private=private):
        text = read_settings_text(path) or ""
        expected = parse_toml(text, path)
        value = change(_get(expected, key))
        _put(expected, key, value)
        _write_checked(path, text, with_value(text, key, value), key, expected, private=private)


def unset_in_file(path: Path, key: Key, *, private: bool = True) -> bool:
    """Take a setting, or a table with one's own names, out of a file. Whether it was there."""
    if not path.exists():
        return False
    with held(path, private=private):
        text = read_settings_text(path) or ""
        expected = parse_toml(text, path)
        if not _drop(expected, key):
            return False
        _write_checked(path, text, without(text, key), key, expected, private=private)
        return True


def with_value(text: str, key: Key, value: object) -> str:
    found = entries(text)
    there = next((entry for entry in found if entry.key == key and not entry.is_header), None)
    if there is not None:
        return text[: there.value_start] + written(value) + text[there.value_end :]
    newline = "\r\n" if "\r\n" in text else "\n"
    neighbour = _neighbour(found, key)
    if neighbour is not None:
        name = join_key(key[len(neighbour.table) :])
        return _inserted(text, neighbour.end, f"{_indent(text, neighbour)}{name} = {written(value)}", newline)
    if len(key) == 1:
        first = next((entry for entry in found if entry.is_header), None)
        line = f"{join_key(key)} = {written(value)}"
        return _inserted(text, len(text) if first is None else first.start, line, newline)
    section = f"[{join_key(key[:-1])}]{newline}{join_key(key[-1:])} = {written(value)}"
    return _inserted(text, len(text), f"{newline}{section}" if text.strip() else section, newline)


def without(text: str, key: Key) -> str:
    """A setting's lines, or the header and the lines of a table and of those below it."""
    for entry in reversed(entries(text)):
        if entry.key[: len(key)] == key:
            text = text[: entry.start] + text[entry.end :]
    for length in range(len(key) - 1, 0, -1):
        text = _without_empty_section(text, key[:length])
    return text


def _without_empty_section(text: str, table: Key) -> str:
    """Without the header of a table in which nothing stands, not even a comment, and the empty row before it."""
    found = entries(text)
    within = [entry for entry in found if entry.key[: len(table)] == table]
    if len(within) != 1 or not within[0].is_header or within[0].key != table:
        return text
    header = within[0]
    end = next((entry.start for entry in found if entry.start >= header.end), len(text))
    if text[header.start : header.end].count("#") or text[header.end : end].strip():
        return text
    return _joined(text[: header.start], text[end:])


def _joined(before: str, after: str) -> str:
    """Two sections, one empty row between them; at the end of a file none."""
    newline = "\r\n" if "\r\n" in before else "\n"
    begun = before.rstrip("\r\n")
    return begun + newline * (bool(begun) + bool(begun and after)) + after


def _neighbour(found: list[TomlEntry], key: Key) -> TomlEntry | None:
    """The entry to write a new one behind: the last of its table, or one whose dotted name begins the same way."""
    table = key[:-1]
    mates = [entry for entry in found if entry.table == table]
    if table and not mates:
        mates = [entry for entry in found if entry.key[:-1] == table and not entry.is_header]
    return mates[-1] if mates else None


def _indent(text: str, entry: TomlEntry) -> str:
    line = text[entry.start : entry.end]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _inserted(text: str, position: int, line: str, newline: str) -> str:
    before = text[:position]
    if before and not before.endswith("\n"):
        before += newline
    return before + line + newline + text[position:]


def _write_checked(path: Path, before: str, after: str, key: Key, expected: dict[str, Any], *, private: bool) -> None:
    try:
        right = _without_empty(parse_toml(after, path)) == _without_empty(expected)
    except UserMistake:
        right = False
    if not right:
        line = line_of(entries(before), key)
        raise UserMistake(f"cannot change {join_key(key)} the way {path}:{line} is written", "change it with an editor")
    replace(path, after.encode(), private=private)


def _put(tree: dict[str, object], key: Key, value: object) -> None:
    for name in key[:-1]:
        below = tree.setdefault(name, {})
        if not isinstance(below, dict):
            below = tree[name] = {}
        tree = below
    tree[key[-1]] = value


def _get(tree: object, key: Key) -> object:
    for name in key:
        tree = tree.get(name) if isinstance(tree, dict) else None
    return tree


def _drop(tree: object, key: Key) -> bool:
    for name in key[:-1]:
        tree = tree.get(name) if isinstance(tree, dict) else None
    if not isinstance(tree, dict) or key[-1] not in tree:
        return False
    del tree[key[-1]]
    return True


def _without_empty(tree: object) -> object:
    """Without empty tables."""
    if not isinstance(tree, dict):
        return tree
    pruned = {name: _without_empty(below) for name, below in tree.items()}
    return {name: below for name, below in pruned.items() if below != {}}
