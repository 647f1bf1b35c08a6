"""For `sightline config`: every setting with all its sources, and changing settings in files."""

import os
import re
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from sightline.exceptions import UserMistake
from sightline.settings import _tree
from sightline.settings._edit import change_in_file, set_in_file, unset_in_file
from sightline.settings._fields import (
    EXTENDED,
    Key,
    all_keys,
    checked,
    describe,
    from_text,
    is_section,
    is_table,
    kind_at,
    value_at,
)
from sightline.settings._load import Loaded, load
from sightline.settings._mistakes import kind_of_setting, unknown_hint
from sightline.settings._places import new_project_file, project_file, project_of, user_file
from sightline.settings._sources import PASSED, SettingOrigin, may_hold_headers
from sightline.settings._toml import join_key
from sightline.settings._toml import split_key as split_key
from sightline.settings._toml import written as written
from sightline.settings._tree import Settings
from sightline.settings._trust import trust as trust
from sightline.settings._trust import trust_preserved
from sightline.settings._trust import trusted_files as trusted_files
from sightline.settings._trust import trusted_folders as trusted_folders
from sightline.settings._trust import untrust as untrust
from sightline.settings.rules._rules import checked_variable, parse_rule
from sightline.text import without_credentials

HIDDEN = "[set]"
_class = re.compile(r"class (\w+)\(")
_setting = re.compile(r"    (\w+): [^#]+?(?:  # (.+))?")
_above = re.compile(r"    # (.+)")


class SettingSource(msgspec.Struct, frozen=True):
    """The value from one source. One that does not count was replaced by a later one."""

    source: SettingOrigin
    value: Any
    counts: bool


class EffectiveSetting(msgspec.Struct, frozen=True):
    """A setting as it applies. `allowed` describes its values; `sources` has the lowest first."""

    key: str
    value: Any
    default: Any
    allowed: str
    sources: tuple[SettingSource, ...] = ()


def shown_settings(cwd: Path, name: str = "") -> tuple[list[EffectiveSetting], list[str]]:
    """All settings, those of a section, or one; and the notices of loading. UserMistake for a name that is none."""
    loaded = load(cwd)
    prefix = split_key(name) if name else ()
    keys = [key for key in _keys(loaded) if key[: len(prefix)] == prefix]
    if not keys and (not prefix or kind_at(prefix) is None):
        raise UserMistake(f"no such setting: {name}", unknown_hint(prefix or (name,)))
    return [_shown(loaded, key) for key in keys], loaded.notices


def _keys(loaded: Loaded) -> list[Key]:
    """Those of the tree; a table with one's own names is replaced by what is in it."""
    found: list[Key] = []
    for key in all_keys():
        below = _below(key, kind_at(key), value_at(loaded.settings, key)) if is_table(kind_at(key)) else []
        found += below or [key]
    return found


def _below(key: Key, kind: object, value: object) -> list[Key]:
    if is_section(kind):
        names = list(kind.__annotations__)
    elif isinstance(value, dict) and value:
        names = list(value)
    else:
        return [key]
    inner = [(*key, name) for name in names]
    return [each for at in inner for each in _below(at, kind_at(at), value_at(value, at[-1:]))]


def _shown(loaded: Loaded, key: Key) -> EffectiveSetting:
    counting = loaded.sources_of(join_key(key))
    sources = [
        SettingSource(each.source, shown_value(key, each.value), each.source in counting)
        for each in loaded.given.get(key, [])
    ]
    value = shown_value(key, value_at(loaded.settings, key))
    return EffectiveSetting(join_key(key), value, _default(key), describe(kind_at(key)), tuple(sources))


def _default(key: Key) -> object:
    if key in all_keys():
        return value_at(Settings(), key)
    section: Any = kind_at(key[:-1])
    if not is_section(section):
        return None
    field = next(field for field in msgspec.structs.fields(section) if field.name == key[-1])
    if field.default is not msgspec.NODEFAULT:
        return field.default
    return field.default_factory() if callable(field.default_factory) else None


def shown_value(key: Key, value: object) -> object:
    """Headers hold keys of servers more often than not, and addresses passwords: they are not for the screen."""
    if len(key) > 3 and may_hold_headers(key) and value:
        return HIDDEN
    return _without_credentials(value)


def _without_credentials(value: object) -> object:
    if isinstance(value, str):
        return without_credentials(value)
    if isinstance(value, dict):
        return {key: _without_credentials(each) for key, each in value.items()}
    return [_without_credentials(each) for each in value] if isinstance(value, list) else value


def changed_settings(old: Settings, new: Settings) -> list[str]:
    """The names of those that are not the same in both."""
    return [join_key(key) for key in all_keys() if value_at(old, key) != value_at(new, key)]


def settings_file(cwd: Path, *, project: bool) -> Path:
    return new_project_file(cwd) if project else user_file(os.environ)


def project_folder(cwd: Path) -> Path:
    """The folder whose settings would be used here; without any, this one."""
    file = project_file(cwd)
    return project_of(file) if file else cwd


def change_setting(path: Path, name: str, text: str, *, project: bool, replace: bool = True) -> tuple[object, object]:
    """Write a value, given as text, into a file. Returns it as parsed, and the one before, None for none.
    Without `replace` a list that would lose a value is left alone."""
    key = split_key(name)
    value = _understood(name, key, text)
    before: list[object] = [None]

    def change(there: Any) -> Any:
        before[0] = there
        lost = [each for each in _listed(there) if each not in value] if isinstance(value, list) else []
        if lost and not replace:
            raise UserMistake(
                f"{name} in {path} already has: {', '.join(map(str, there))}",
                f"add to it with `sightline config add {name} VALUE`, or replace all of it with --replace",
            )
        return value

    with _preserving_trust(path, project=project):
        change_in_file(path, key, change, private=not project)
    return value, before[0]


def add_to_setting(path: Path, name: str, text: str, *, project: bool) -> list[str]:
    """Add values to a list in a file. Returns the list."""
    key = split_key(name)
    new = _understood_list(name, key, text)
    return _change_list(path, key, lambda there: list(dict.fromkeys([*there, *new])), project=project)


def remove_from_setting(path: Path, name: str, text: str, *, project: bool) -> list[str]:
    """Take values out of a list in a file. Returns the list."""
    key = split_key(name)
    gone = _understood_list(name, key, text)

    def without(there: list[str]) -> list[str]:
        missing = [each for each in gone if each not in there]
        if missing:
            has = (
                f"it has: {', '.join(map(str, there))}"
                if there
                else f"`sightline config {name}` shows where it comes from"
            )
            raise UserMistake(f"{name} in {path} does not have {missing[0]}", has)
        return [each for each in there if each not in gone]

    return _change_list(path, key, without, project=project)


def _change_list(path: Path, key: Key, change: Callable[[list[str]], list[str]], *, project: bool) -> list[str]:
    changed: list[str] = []

    def made(there: Any) -> list[str]:
        changed[:] = change(_listed(there))
        return changed

    with _preserving_trust(path, project=project):
        change_in_file(path, key, made, private=not project)
    return changed


def _listed(there: object) -> list[Any]:
    return there if isinstance(there, list) else []


def _understood_list(name: str, key: Key, text: str) -> list[str]:
    values = _understood(name, key, text)
    if not isinstance(values, list):
        raise UserMistake(f"{name} is not a list", f"change it with `sightline config set {name} VALUE`")
    if not values:
        raise UserMistake(f"no value for {name}", "values are separated by commas")
    return values


def _understood(name: str, key: Key, text: str) -> object:
    try:
        value = from_text(kind_of_setting(name, key), text)
    except ValueError as error:
        raise UserMistake(f"{name} must be {error}, not {written(text)}") from None
    if key in EXTENDED:
        _check_rules(value, denies=key[-1] == "deny")
    elif key == PASSED:
        for each in value:
            checked_variable(each)
    return value


def put_setting(path: Path, name: str, value: object, *, project: bool) -> None:
    """Write a value that is no text, such as the keys of an action, into a file."""
    key = split_key(name)
    try:
        value = checked(kind_of_setting(name, key), value)
    except ValueError as error:
        raise UserMistake(f"{name} must be {error}") from None
    with _preserving_trust(path, project=project):
        set_in_file(path, key, value, private=not project)


def _preserving_trust(path: Path, *, project: bool) -> AbstractContextManager[None]:
    return trust_preserved(project_of(path)) if project else nullcontext()


def _check_rules(rules: list[str], *, denies: bool) -> None:
    for rule in rules:
        parse_rule(rule, denies=denies)


def remove_setting(path: Path, name: str, *, project: bool) -> None:
    key = split_key(name)
    with _preserving_trust(path, project=project):
        removed = bool(key) and unset_in_file(path, key, private=not project)
    if not removed:
        raise UserMistake(f"{name} is not in {path}", f"`sightline config {name}` shows its source")


def about(key: tuple[str, ...]) -> str:
    """What a setting is for, from the comment beside it in `_tree`; empty for a name the user chose."""
    section = kind_at(key[:-1])
    name = section.__name__ if section is not None and is_section(section) else ""
    return _comments().get((name, key[-1]), "")


@cache
def _comments() -> dict[tuple[str, str], str]:
    """By section and setting."""
    try:
        lines = Path(_tree.__file__ or "").read_text(encoding="utf-8").splitlines()
    except OSError:
        return {}
    found: dict[tuple[str, str], str] = {}
    section = before = ""
    for line in lines:
        if begun := _class.match(line):
            section = begun[1]
        elif comment := _above.fullmatch(line):
            before = f"{before} {comment[1]}".strip()
            continue
        elif setting := _setting.fullmatch(line):
            found[section, setting[1]] = setting[2] or before
        before = ""
    return found
