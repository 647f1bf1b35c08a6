"""Rules that deny, for a copy of the folder they are about: its files have other paths there.

Rules:

- A rule about paths is compared name by name: it may reach the folder by a pattern, by a link, by `~`, or in another
  case. What it says of the folder's inside is said of the copy's inside.
- A rule about commands is moved where it holds in the folder or in one around it, and where its words name the folder.
- A relative rule means the same in both; nothing is made of it.
"""

import os
from collections.abc import Iterable

from msgspec.structs import replace

from sightline.handles import real_path
from sightline.settings.rules._rules import Rule, fits_name, is_absolute, itself, parse_rule, path_parts, really


def denied_in_copy(rules: Iterable[str], folder: str, copy: str) -> list[str]:
    """Rules that deny in `copy` what these deny in `folder`. Both are real paths."""
    return list(dict.fromkeys(str(moved) for text in rules for moved in _moved(text, folder, copy)))


def _moved(text: str, folder: str, copy: str) -> list[Rule]:
    rule = parse_rule(text, denies=True)
    if rule.access == "exec":
        return _moved_command(rule, folder, copy)
    if rule.access == "network" or not is_absolute(rule.pattern):
        return []
    home = real_path(os.path.expanduser("~"))
    written = {rule: None, really(rule, workspace=folder, home=home, resolve=real_path): None}
    return [
        Rule(rule.access, "/".join([itself(copy), *rest]))
        for each in written
        for rest in _rests(*path_parts(each.pattern, folder, home), folder)
    ]


def _rests(base: str, names: list[str], folder: str) -> list[list[str]]:
    """What is left of a pattern below the folder: once for each way in which its beginning fits the folder's path."""
    pattern = [*filter(None, itself(base).split("/")), *names]
    at = {0}
    for name in filter(None, folder.casefold().split("/")):
        at = {after for each in _with_stars(pattern, at) for after in _after(pattern, each, name)}
    return [pattern[each:] for each in sorted(at)]


def _with_stars(pattern: list[str], places: set[int]) -> set[int]:
    """These places, and those behind a `**`, which may stand for nothing."""
    found = set(places)
    for place in places:
        while place < len(pattern) and pattern[place] == "**":
            place += 1
            found.add(place)
    return found


def _after(pattern: list[str], place: int, name: str) -> list[int]:
    if place == len(pattern):
        return []
    if pattern[place] == "**":
        return [place]
    return [place + 1] if fits_name(pattern[place].casefold(), name) else []


def _moved_command(rule: Rule, folder: str, copy: str) -> list[Rule]:
    home = os.path.expanduser("~")
    below = (each for each in (home, real_path(home)) if folder.startswith(f"{each}/"))
    spelled = {folder, *(f"~{folder[len(each) :]}" for each in below)}
    found = [replace(rule, pattern=rule.pattern.replace(each, copy)) for each in spelled if each in rule.pattern]
    if not is_absolute(rule.folder):
        return found
    place = real_path(os.path.expanduser(rule.folder))
    if os.path.commonpath([place, folder]) == place:
        place = copy
    elif os.path.commonpath([place, folder]) == folder:
        place = os.path.join(copy, os.path.relpath(place, folder))
    else:
        return found
    return [replace(each, folder=place) for each in (rule, *found)]
