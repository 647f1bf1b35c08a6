"""Reading each source of settings: a file, the environment, options of the command line.

Nothing is merged here. A source gives values, each with its place, and mistakes, each with its place.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from sightline.exceptions import UserMistake
from sightline.settings._fields import (
    EXTENDED,
    Key,
    all_keys,
    checked,
    choices_of,
    from_text,
    is_list,
    is_table,
    is_text,
    kind_at,
    leaves,
)
from sightline.settings._files import UnreadableFile, read_small, refuse_large
from sightline.settings._mistakes import SettingMistake, SettingsInvalid, closest, unknown_hint
from sightline.settings._toml import entries, join_key, line_of, split_key, written
from sightline.settings.rules._rules import checked_variable, parse_rule
from sightline.text import without_credentials

SourceKind = Literal["default", "user", "project", "environment", "flag"]
PREFIX = "SIGHTLINE_"
_HOME = "SIGHTLINE_HOME"  # where files are stored: no setting, and looked for near none
PASSED: Key = ("permissions", "pass_env")

# A file full of mistakes is not gone through to its end.
_MOST_MISTAKES = 20

_place = re.compile(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", re.DOTALL).fullmatch


class SettingOrigin(msgspec.Struct, frozen=True):
    """`where`: a file and line, a variable, an option; empty for a default."""

    kind: SourceKind
    where: str = ""


class SourcedValue(msgspec.Struct, frozen=True):
    """One value from one source."""

    key: Key
    value: Any
    source: SettingOrigin


class SourceReading(msgspec.Struct):
    """What a source came to."""

    given: list[SourcedValue] = []
    mistakes: list[SettingMistake] = []

    def take(self, key: Key, value: Any, source: SettingOrigin) -> None:
        """A value that has passed its type; rules are looked at as rules."""
        try:
            if key in EXTENDED:
                for rule in value:
                    parse_rule(rule, denies=key[-1] == "deny")
            elif key == PASSED:
                for name in value:
                    checked_variable(name)
        except UserMistake as mistake:
            self.mistakes.append(SettingMistake(source.where, f"{join_key(key)}: {mistake.message}", mistake.hint))
        else:
            self.given.append(SourcedValue(key, value, source))


def read_settings_text(path: Path) -> str | None:
    """A settings file as text; None when there is none. SettingsInvalid when it is no UTF-8."""
    data = read_small(path)
    return None if data is None else _decoded(data, path)


def _decoded(data: bytes, path: Path) -> str:
    refuse_large(path, data)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SettingsInvalid([SettingMistake(f"{path}:{line}", "not UTF-8", "save the file as UTF-8")]) from None


def parse_toml(text: str, path: Path) -> dict[str, Any]:
    """SettingsInvalid, with line and column, when it is no TOML."""
    import tomllib

    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        match = _place(str(error))
        problem = (match[1] if match else str(error)).rstrip(".")
        last = max(text.count("\n") + (not text.endswith("\n")), 1)
        place = f"{match[2]}:{match[3]}" if match and match[2] else str(last)
        hint = "text needs quotes, and a section is written [name]"
        raise SettingsInvalid(
            [SettingMistake(f"{path}:{place}", f"not TOML: {problem[:1].lower()}{problem[1:]}", hint)]
        ) from None


def from_file(path: Path, kind: SourceKind, data: bytes | None = None) -> SourceReading:
    """`data`: what the file held when it was last looked at; without it, it is read."""
    try:
        text = read_settings_text(path) if data is None else _decoded(data, path)
        tree = parse_toml(text, path) if text else {}
    except SettingsInvalid as error:
        return SourceReading(mistakes=error.mistakes)
    except UnreadableFile as error:
        return SourceReading(mistakes=[SettingMistake(str(path), f"cannot be read: {error.why}", error.hint)])
    reading = SourceReading()
    if not text or not tree:
        return reading
    found = entries(text)
    for name, value in tree.items():
        known = kind_at((name,))
        for key, leaf in [((name,), value)] if known is None else leaves((name,), known, value):
            _take_from_file(reading, key, leaf, SettingOrigin(kind, f"{path}:{line_of(found, key)}"))
            if len(reading.mistakes) >= _MOST_MISTAKES:
                return reading
    return reading


def _take_from_file(reading: SourceReading, key: Key, value: Any, source: SettingOrigin) -> None:
    kind, name = kind_at(key), join_key(key)
    if kind is None:
        what = "section" if isinstance(value, dict) else "setting"
        reading.mistakes.append(SettingMistake(source.where, f"no such {what}: {name}", unknown_hint(key)))
        return
    try:
        reading.take(key, checked(kind, value), source)
    except ValueError as error:
        hint = f"write [{name}], and its settings below it" if is_table(kind) else _type_hint(key, value, kind)
        reading.mistakes.append(SettingMistake(source.where, f"{name} must be {error}, not {_short(key, value)}", hint))


def may_hold_headers(key: Key) -> bool:
    """Whether a value there may be a header of a model server, or a table of them: it is never shown."""
    return key[:2] == ("models", "servers") and key[3:4] in ((), ("headers",))


def _type_hint(key: Key, value: object, kind: object) -> str:
    """For the slip that is made most: quotes where none belong, or none where they do."""
    if may_hold_headers(key):
        return "put it in quotes" if is_text(kind) and not isinstance(value, (dict, list)) else ""
    if isinstance(value, str):
        try:
            return f"write {written(from_text(kind, value))}"
        except ValueError:
            near = closest(value, choices_of(kind))
            return f"did you mean {near}?" if near else ""
    if is_text(kind) and not isinstance(value, (dict, list)):
        return f"put it in quotes: {written(written(value))}"
    if is_list(kind) and not isinstance(value, dict):
        return 'write ["one", "two"]'
    return ""


def _short(key: Key, value: object) -> str:
    if isinstance(value, dict):
        return "a table"
    if may_hold_headers(key):
        return "a list" if isinstance(value, list) else "text" if isinstance(value, str) else "a number or a date"
    text = without_credentials(written(value))
    return text if len(text) <= 60 else f"{text[:59]}…"


def from_environment(environ: Mapping[str, str]) -> SourceReading:
    """`SIGHTLINE_SECTION_NAME`. An empty variable is one that is not set."""
    reading = SourceReading()
    names = [name for name in environ if name.startswith(PREFIX) and environ[name] and name != _HOME]
    if not names:
        return reading
    known = {variable_name(key): key for key in all_keys()}
    for name in names:
        key = known.get(name)
        if key is None:
            _suspect(reading, name, known)
        else:
            _take_text(reading, key, environ[name], SettingOrigin("environment", name))
    return reading


def variable_name(key: Key) -> str:
    return PREFIX + "_".join(key).upper()


def _suspect(reading: SourceReading, name: str, known: dict[str, Key]) -> None:
    """Other parts of the program have variables too: a mistake is only what was meant as a setting by its looks."""
    sections = {variable_name(key[:1]) + "_" for key in known.values() if len(key) > 1}
    near = closest(name, known, 0.8)
    if near or name.startswith(tuple(sections)):
        hint = f"did you mean {near}?" if near else "unset it; `sightline config` lists all settings"
        reading.mistakes.append(SettingMistake(name, "no setting has this name", hint))


def from_flags(flags: Mapping[str, str]) -> SourceReading:
    """`--set section.name=value`."""
    reading = SourceReading()
    for name, text in flags.items():
        key, source = split_key(name), SettingOrigin("flag", f"--set {name}")
        if not key or kind_at(key) is None:
            reading.mistakes.append(
                SettingMistake(source.where, f"no such setting: {name}", unknown_hint(key or (name,)))
            )
        else:
            _take_text(reading, key, text, source)
    return reading


def _take_text(reading: SourceReading, key: Key, text: str, source: SettingOrigin) -> None:
    kind = kind_at(key)
    if is_table(kind):
        reading.mistakes.append(
            SettingMistake(source.where, f"{join_key(key)} is a table", "write it in a settings file")
        )
        return
    try:
        reading.take(key, from_text(kind, text), source)
    except ValueError as error:
        hint = _type_hint(key, text, kind) if choices_of(kind) else ""
        reading.mistakes.append(SettingMistake(source.where, f"must be {error}, not {_short(key, text)}", hint))
