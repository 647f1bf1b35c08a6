"""The command about models: arguments to calls. Imports happen inside."""

import argparse
import os

from sightline.cli._folder import current_folder


def models(arguments: argparse.Namespace) -> int:
    from sightline.views.plain import palette_for, write_all
    from sightline.views.plain.models import show_models

    query = " ".join(arguments.query)
    palette = palette_for(1, arguments.color)
    shown = show_models(current_folder(), os.environ, query, palette, remote=arguments.remote, json=arguments.json)
    write_all(1, shown.text.encode("utf-8", "replace"))
    write_all(2, shown.notes.encode("utf-8", "replace"))
    return shown.exit_code
