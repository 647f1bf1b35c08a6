"""One function per command about settings: arguments to calls. Imports happen inside."""

import argparse
from pathlib import Path

from sightline.cli._environment import current_folder


def show(arguments: argparse.Namespace) -> int:
    from sightline.views.plain import palette_for
    from sightline.views.plain.commands.config import config_json, config_table

    key = getattr(arguments, "key", "")
    if arguments.json:
        return _write(config_json(current_folder(), key))
    return _write(config_table(current_folder(), key, palette_for(1, arguments.color)))


def change(arguments: argparse.Namespace) -> int:
    from sightline.views.plain.commands.config import change_setting

    options = {"project": arguments.project, "replace": arguments.replace}
    return _write(change_setting(current_folder(), arguments.key, arguments.value, **options))


def edit_list(arguments: argparse.Namespace) -> int:
    from sightline.views.plain.commands.config import edit_list

    options = {"add": arguments.add, "project": arguments.project}
    return _write(edit_list(current_folder(), arguments.key, arguments.value, **options))


def remove(arguments: argparse.Namespace) -> int:
    from sightline.views.plain.commands.config import remove_setting

    return _write(remove_setting(current_folder(), arguments.key, project=arguments.project))


def path(arguments: argparse.Namespace) -> int:
    from sightline.settings.editing import settings_file

    return _write(f"{settings_file(current_folder(), project=arguments.project)}\n")


def trust(arguments: argparse.Namespace) -> int:
    from sightline.views.plain.commands.config import trust_folder, trusted_list

    return _write(trusted_list() if arguments.list else trust_folder(_folder(arguments.folder)))


def untrust(arguments: argparse.Namespace) -> int:
    from sightline.views.plain.commands.config import untrust_folder

    return _write(untrust_folder(_folder(arguments.folder)))


def rules(arguments: argparse.Namespace) -> int:
    from sightline.views.plain.commands.config import forget_remembered, rules_json, rules_table

    cwd = current_folder()
    if arguments.forget is not None:
        return _write(forget_remembered(cwd, arguments.forget))
    return _write(rules_json(cwd) if arguments.json else rules_table(cwd))


def _folder(name: str) -> Path:
    """The folder named; without a name the project around us, else where we are."""
    from sightline.settings.editing import project_folder

    return Path(name) if name else project_folder(current_folder())


def _write(text: str | bytes) -> int:
    from sightline.views.plain import write_all, write_text

    if isinstance(text, bytes):
        write_all(1, text)
    else:
        write_text(1, text)
    return 0
