"""The CLI of a provider, found outside the folder it is to work in."""

import os
import sys
from collections.abc import Mapping

from sightline.exec import Process, UntrustedProgram, start_words, work_in
from sightline.providers._provider import NotInstalled, Unreachable
from sightline.text import clean_line


def binary_words(binary: str, cwd: str, env: Mapping[str, str]) -> list[str]:
    """The first words of its command line; FileNotFoundError or UntrustedProgram where it cannot be run."""
    work_in(cwd or ".")
    return start_words(binary, {**os.environ, **env}.get("PATH"))


def start_channel(
    argv: list[str],
    name: str,
    *,
    cwd: str,
    env: dict[str, str],
    hint: str,
    program: str = "",
    keep_stdin: bool = False,
    entering: tuple[str, ...] = (),
) -> Process:
    """The program of a channel; Unreachable where it cannot be started. `program`: what is to be installed. `entering`:
    as in a `ProviderPrompt`."""
    try:
        own = argv[0] == sys.executable  # this very program, which runs already
        words = [*entering, *([argv[0]] if own else binary_words(argv[0], cwd, env)), *argv[1:]]
        return Process(words, cwd=cwd, env=env, keep_stdin=keep_stdin)
    except UntrustedProgram as refused:
        raise Unreachable(clean_line(refused.message), refused.hint) from None
    except FileNotFoundError:
        raise NotInstalled(f"{program or name} is not installed", hint) from None
    except (OSError, ValueError) as problem:
        raise Unreachable(clean_line(f"{name} cannot be started: {problem}"), hint) from None
