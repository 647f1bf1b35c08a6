"""All sources together: defaults < the user's file < the project's file < the environment < options.

Rules:

- A later source replaces the value of an earlier one, setting by setting; permission rules add up instead.
- A project's file counts in a folder the user trusts and nothing has changed since. Elsewhere it is not even read, and
  a notice reports that.
- Any mistake in any source is a SettingsInvalid with all of them: half a configuration is none.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from sightline.settings._places import FILE_NAME, PROJECT_FOLDER, project_file, project_of, user_file
from sightline.settings._tree import Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sightline.settings._fields import Key
    from sightline.settings._mistakes import SettingMistake
    from sightline.settings._sources import SettingOrigin, SourcedValue, SourceKind


class Loaded(msgspec.Struct, frozen=True):
    """The settings, and for each that was given somewhere all its values, the winner last."""

    settings: Settings
    notices: list[str] = []
    given: "dict[Key, list[SourcedValue]]" = {}

    def source_of(self, path: str) -> "SettingOrigin":
        """Where a value comes from; of rules that add up, the last place that added some."""
        return self.sources_of(path)[-1]

    def sources_of(self, path: str) -> "list[SettingOrigin]":
        """The sources that count: one, or for rules that add up all that gave some."""
        from sightline.settings._fields import EXTENDED
        from sightline.settings._sources import SettingOrigin
        from sightline.settings._toml import split_key

        key = split_key(path)
        values = [each.source for each in self.given.get(key, [])]
        return (values if key in EXTENDED else values[-1:]) or [SettingOrigin("default")]


def load(cwd: Path, *, flags: Mapping[str, str] | None = None, environ: Mapping[str, str] = os.environ) -> Loaded:
    """The settings that hold in a workspace. SettingsInvalid, a UserMistake, when a source has mistakes."""
    notices: list[str] = []
    files = _files(cwd, environ, notices)
    if not files and not flags and not _is_in_the_environment(environ):
        return Loaded(Settings(), notices)
    from sightline.settings._sources import from_environment, from_file, from_flags

    readings = [from_file(path, kind, data) for kind, path, data in files]
    readings += [from_environment(environ), from_flags(flags or {})]
    mistakes = [mistake for reading in readings for mistake in reading.mistakes]
    given: dict[Key, list[SourcedValue]] = {}
    for reading in readings:
        for each in reading.given:
            given.setdefault(each.key, []).append(each)
    return Loaded(_built(given, mistakes), notices, given)


def _files(cwd: Path, environ: Mapping[str, str], notices: list[str]) -> "list[tuple[SourceKind, Path, bytes | None]]":
    """Those that are there and count. A project's comes with the content that was found to be the trusted one."""
    own, project = user_file(environ), project_file(Path(os.path.abspath(cwd)))
    files: list[tuple[SourceKind, Path, bytes | None]] = [("user", own, None)] if os.path.lexists(own) else []
    if project is None or (files and os.path.realpath(own) == os.path.realpath(project)):
        return files
    from sightline.settings._trust import trusted_files

    folder = project_of(project)
    trusted, content = trusted_files(folder)
    if trusted == "trusted":
        return [
            *files,
            ("project", project, content.get(Path(os.path.realpath(folder), PROJECT_FOLDER, FILE_NAME), b"")),
        ]
    import shlex

    trust = f"sightline config trust {shlex.quote(str(folder))}"
    if trusted == "untrusted":
        notices.append(f"{project} is not used: its folder is not trusted. To use it: {trust}")
    else:
        notices.append(
            f"{project.parent} changed since you trusted it, so it is not used: check it, then run `{trust}` again"
        )
    return files


def _is_in_the_environment(environ: Mapping[str, str]) -> bool:
    return any(name.startswith("SIGHTLINE_") and name != "SIGHTLINE_HOME" for name in environ)


def _built(given: "dict[Key, list[SourcedValue]]", mistakes: "list[SettingMistake]") -> Settings:
    from sightline.settings._fields import EXTENDED

    tree: dict[str, object] = {}
    for key, values in given.items():
        value = values[-1].value
        if key in EXTENDED:
            value = list(dict.fromkeys(rule for each in values for rule in each.value))
        _put(tree, key, value)
    mistakes += _servers_without_address(tree, given)
    if mistakes:
        from sightline.settings._mistakes import SettingsInvalid

        raise SettingsInvalid(mistakes)
    return msgspec.convert(tree, Settings)


def _put(tree: dict[str, object], key: "Key", value: object) -> None:
    for name in key[:-1]:
        below = tree.get(name)
        if not isinstance(below, dict):
            below = tree[name] = {}
        tree = below
    if value != {} or not isinstance(tree.get(key[-1]), dict):
        tree[key[-1]] = value


def _servers_without_address(tree: dict[str, Any], given: "dict[Key, list[SourcedValue]]") -> "list[SettingMistake]":
    from sightline.settings._mistakes import SettingMistake
    from sightline.settings._toml import join_key

    lacking = []
    for name, server in tree.get("models", {}).get("servers", {}).items():
        if "base_url" not in server:
            key = ("models", "servers", name)
            where = next(values[0].source.where for at, values in given.items() if at[:3] == key)
            hint = 'give the address of its API: base_url = "http://…/v1"'
            lacking.append(SettingMistake(where, f"{join_key(key)} has no base_url", hint))
    return lacking
