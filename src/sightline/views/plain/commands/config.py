"""`sightline config`: every setting with its value and its source, and the result of a change."""

from pathlib import Path

import msgspec

from sightline.exceptions import UserMistake
from sightline.settings import editing, forget_rule, remembered_rules, shown_rule, typed_rule
from sightline.settings.editing import about
from sightline.text import clean_line, clean_value, cut_graphemes
from sightline.views._names import from_home
from sightline.views.plain._output import pretty_json, room_in_row
from sightline.views.plain._palette import Palette

_SOURCES = {
    "default": "default",
    "user": "your file",
    "project": "project",
    "environment": "environment",
    "flag": "option",
}
_LONGEST_VALUE = 200
_OTHER_COLUMNS = 56


def config_table(cwd: Path, name: str, palette: Palette) -> str:
    """A row per setting; what is not the default stands out. One setting alone: all there is about it."""
    settings, notices = editing.shown_settings(cwd, name)
    if len(settings) == 1 and settings[0].key == name:
        rows = _one(settings[0], palette)
    else:
        width = max((len(setting.key) for setting in settings), default=0)
        rows = [_row(setting, width, palette) for setting in settings]
    rows += [f"{palette.dim}note: {clean_line(notice)}{palette.reset}" for notice in notices]
    return "".join(f"{row}\n" for row in rows)


def config_json(cwd: Path, name: str) -> bytes:
    settings, _ = editing.shown_settings(cwd, name)
    facts = [
        {
            "key": setting.key,
            "value": setting.value,
            "default": setting.default,
            "sources": [msgspec.to_builtins(each.source) for each in setting.sources if each.counts],
        }
        for setting in settings
    ]
    return pretty_json(clean_value(facts))


def _row(setting: editing.EffectiveSetting, width: int, palette: Palette) -> str:
    value = cut_graphemes(_words(setting.value), room_in_row(_OTHER_COLUMNS, _LONGEST_VALUE))
    counting = [each.source for each in setting.sources if each.counts]
    if not counting:
        return f"{palette.dim}{setting.key:<{width}} {value:<20} default{palette.reset}"
    source = ", ".join(f"{_SOURCES[each.kind]} ({from_home(each.where)})" for each in counting)
    return f"{setting.key:<{width}} {palette.bold}{value:<20}{palette.reset} {clean_line(source)}"


def _one(setting: editing.EffectiveSetting, palette: Palette) -> list[str]:
    what = about(editing.split_key(setting.key))
    rows = [f"{setting.key} = {palette.bold}{_words(setting.value)}{palette.reset}"]
    rows += [f"  {line}" for line in (what, setting.allowed) if line]
    for each in reversed(setting.sources):
        aside = "" if each.counts else " (replaced)"
        place, source = clean_line(from_home(each.source.where)), _SOURCES[each.source.kind]
        rows.append(f"  {source:<12} {_words(each.value)}  {palette.dim}{place}{aside}{palette.reset}")
    default = "none" if setting.default is None else _words(setting.default)
    return [*rows, f"  {'default':<12} {default}"]


def _words(value: object) -> str:
    return clean_line(editing.written(value)) if value != editing.HIDDEN else editing.HIDDEN


def change_setting(cwd: Path, name: str, text: str, *, project: bool, replace: bool) -> str:
    path = editing.settings_file(cwd, project=project)
    value, before = editing.change_setting(path, name, text, project=project, replace=replace)
    was = "" if before in (None, value) else f"; it was {_shown(name, before)}"
    return f"{name} = {_shown(name, value)} in {path}{was}\n{_remark(cwd, project=project)}"


def edit_list(cwd: Path, name: str, text: str, *, add: bool, project: bool) -> str:
    path = editing.settings_file(cwd, project=project)
    edit = editing.add_to_setting if add else editing.remove_from_setting
    values = edit(path, name, text, project=project)
    return f"{name} = {_shown(name, values)} in {path}\n{_remark(cwd, project=project) if add else ''}"


def _shown(name: str, value: object) -> str:
    return _words(editing.shown_value(editing.split_key(name), value))


def remove_setting(cwd: Path, name: str, *, project: bool) -> str:
    path = editing.settings_file(cwd, project=project)
    editing.remove_setting(path, name, project=project)
    return f"{name} is no longer in {path}\n"


def _remark(cwd: Path, *, project: bool) -> str:
    folder = editing.project_folder(cwd)
    trust = editing.trusted_files(folder)[0] if project else "trusted"
    if trust == "trusted":
        return ""
    state = "is not trusted" if trust == "untrusted" else "changed since you trusted it"
    return f"note: {folder} {state}, so its settings are not used; to use them: sightline config trust\n"


def trusted_list() -> str:
    folders = editing.trusted_folders()
    if not folders:
        return "no folder is trusted: trust one with sightline config trust FOLDER\n"
    return "".join(f"{clean_line(str(folder))}\n" for folder in folders)


def trust_folder(folder: Path) -> str:
    trusted = clean_line(str(editing.trust(folder)))
    return f"trusted: {trusted}; its settings, extensions, agents, commands and skills are used from now on\n"


def untrust_folder(folder: Path) -> str:
    return f"no longer trusted: {clean_line(str(editing.untrust(folder)))}\n"


def rules_table(cwd: Path) -> str:
    """Deny rules first: they win."""
    rules, notices = _rules(cwd)
    rows = [f"{each['verdict']:<6} {shown_rule(each['rule'])}  ({_origin(each)})" for each in rules]
    rows += [f"note: {notice}" for notice in notices]
    return "".join(f"{clean_line(row)}\n" for row in rows) or "no rules\n"


def _origin(rule: dict[str, str]) -> str:
    return "remembered for this folder" if rule["source"] == "remembered" else from_home(rule["where"])


def rules_json(cwd: Path) -> bytes:
    """Each exactly as it is, and nothing in it a terminal would obey."""
    import json

    return f"{json.dumps(_rules(cwd)[0], indent=2)}\n".encode()


def _rules(cwd: Path) -> tuple[list[dict[str, str]], tuple[str, ...]]:
    """And what could not be used of those that are remembered."""
    settings, _ = editing.shown_settings(cwd, "permissions")
    remembered = remembered_rules(cwd)
    rules = []
    for verdict, remembered_here in (("deny", remembered.deny), ("allow", remembered.allow)):
        setting = next(each for each in settings if each.key == f"permissions.{verdict}")
        found: list[tuple[str, str, str]] = [
            (rule, each.source.kind, each.source.where) for each in setting.sources for rule in each.value
        ]
        found += [(rule, "remembered", "") for rule in remembered_here]
        rules += [{"verdict": verdict, "rule": rule, "source": kind, "where": where} for rule, kind, where in found]
    return rules, remembered.notices


def forget_remembered(cwd: Path, rule: str) -> str:
    words = shown_rule(typed_rule(rule))
    if not forget_rule(cwd, rule):
        raise UserMistake(f"not remembered for this folder: {words}", "see `sightline config rules`")
    return f"forgotten: {words}\n"
