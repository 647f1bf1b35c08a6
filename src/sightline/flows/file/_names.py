"""What inputs and steps may be called: names must be able to stand in a path and in an agent's path."""

import re

import yaml

from sightline.flows.file._reader import FlowReader

_name = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")


def check_name(reader: FlowReader, node: yaml.Node, name: str, what: str) -> None:
    if _name.fullmatch(name) is None:
        reader.report(
            node,
            f"{what} cannot be {name!r}",
            "use letters, digits, _ and -, at most 64, beginning with a letter or _",
        )
