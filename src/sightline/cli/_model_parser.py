"""Options and help of `sightline models`."""

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

from sightline.cli import _model_commands as commands

if TYPE_CHECKING:
    from sightline.cli._parser import CommandParser

    Subparsers = argparse._SubParsersAction[CommandParser]


def add_model_commands(subparsers: "Subparsers", add_common: Callable[..., None]) -> None:
    models = subparsers.add_parser(
        "models",
        help="list the models you can use here",
        description="List the models that you have a key or a server for. Exit code 1 when there is none.",
    )
    models.add_argument("query", nargs="*", metavar="QUERY", help="only models with these words in their names")
    models.add_argument("--json", action="store_true", help="as a JSON array")
    models.add_argument("--remote", action="store_true", help="also ask the vendors which models they offer")
    add_common(models, verbose="", below=True)
    models.set_defaults(command=commands.models)
