"""The CLI of a provider, found outside the folder it is to work in."""

import os
from collections.abc import Mapping

from sightline.exec import start_words, work_in


def binary_words(binary: str, cwd: str, env: Mapping[str, str]) -> list[str]:
    """The first words of its command line; FileNotFoundError or UntrustedProgram where it cannot be run."""
    work_in(cwd or ".")
    return start_words(binary, {**os.environ, **env}.get("PATH"))
