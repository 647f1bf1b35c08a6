"""Options and help of `sightline models`."""

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

from sightline.cli import _model_commands as commands

if TYPE_CHECKING:
    from sightline.cli._parser import Parser

    Subparsers = argparse._SubParsersAction[Parser]


def add_model_commands(subparsers: "Subparsers", add_common: Callable[..., None]) -> None:
    models = subparsers.add_parser(
        "models",
        help="models our own agent can use here",
        description="Models there is a key or a server for. Exit code 1 when there is none.",
    )
    models.add_argument("query", nargs="*", metavar="QUERY", help="only those with this in their names")
    models.add_argument("--json", action="store_true", help="as a JSON array")
    models.add_argument("--remote", action="store_true", help="also ask the vendors there are keys for what they have")
    add_common(models, verbose="", below=True)
    models.set_defaults(command=commands.models)
