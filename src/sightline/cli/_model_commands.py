"""The command about models: arguments to calls. Imports happen inside."""

import argparse
import os

from sightline.cli._folder import current_folder


def models(arguments: argparse.Namespace) -> int:
    from sightline.views.plain import palette_for, write_text
    from sightline.views.plain.commands.models import show_models

    query = " ".join(arguments.query)
    palette = palette_for(1, arguments.color)
    shown = show_models(current_folder(), os.environ, query, palette, remote=arguments.remote, json=arguments.json)
    write_text(1, shown.text)
    write_text(2, shown.notes)
    return shown.exit_code
