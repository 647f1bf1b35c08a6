"""Changing settings from the console: written into a settings file, and effective at once."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import msgspec

from sightline.exceptions import SightlineError
from sightline.host import Reload
from sightline.settings import Loaded, Settings, load
from sightline.settings._fields import value_at
from sightline.settings._toml import split_key
from sightline.settings.editing import change_setting, put_setting, remove_setting, settings_file
from sightline.views.console._desk import Desk, reply_data


async def store_setting(desk: Desk, name: str, text: str, *, project: bool = False) -> str:
    """Write a setting given as text. Returns what is wrong; empty: it is stored."""
    return await _changed(desk, name, lambda path: change_setting(path, name, text, project=project), project)


async def store_value(desk: Desk, name: str, value: object) -> str:
    return await _changed(desk, name, lambda path: put_setting(path, name, value, project=False), False)


async def reset_setting(desk: Desk, name: str, *, project: bool = False) -> str:
    """Remove a setting from a file: the one below it counts again."""
    return await _changed(desk, name, lambda path: remove_setting(path, name, project=project), project)


async def _changed(desk: Desk, name: str, write: Callable[[Path], object], project: bool) -> str:
    cwd = Path(desk.cwd)

    def work() -> tuple[Settings, str]:
        write(settings_file(cwd, project=project))
        loaded = load(cwd)
        return loaded.settings, _why_not(loaded, name, project)

    try:
        settings, unused = await asyncio.to_thread(work)
    except (SightlineError, OSError) as error:
        return getattr(error, "message", "") or str(error)
    desk.settings = _with(desk.settings, settings, name)
    if unused:
        desk.report(f"{name} is stored, but {unused}", "warning")
    reply = await desk.submit(Reload())
    later = reply_data(reply).get("later") if reply.ok else None
    if isinstance(later, list) and name in later:
        desk.report(f"{name} takes effect in the next session")
    return ""


def _why_not(loaded: Loaded, name: str, project: bool) -> str:
    """Why the setting that was just written has no effect; empty: it has."""
    source = loaded.source_of(name)
    if project and source.kind in ("default", "user") and loaded.notices:
        return loaded.notices[0]
    above = ("default", "user", *(["project"] if project else []))
    return "" if source.kind in above else f"{source.where} overrides it"


def _with(settings: Settings, new: Settings, name: str) -> Settings:
    """The settings of this console, which options may have changed, with one of them replaced."""
    key = split_key(name)
    try:
        section, setting = getattr(settings, key[0]), key[1:]
    except AttributeError:
        return settings
    if not setting:
        return msgspec.structs.replace(settings, **{key[0]: value_at(new, key)})
    changed = msgspec.structs.replace(section, **{key[1]: value_at(new, key[:2])})
    return msgspec.structs.replace(settings, **{key[0]: changed})
