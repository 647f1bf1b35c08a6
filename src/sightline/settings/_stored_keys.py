"""API keys the user pasted into the console: one file for its owner alone, in a folder no sandboxed command sees.

A key is stored by the name of the variable it stands for (`ANTHROPIC_API_KEY`). A variable of the environment wins.
Only models are opened with stored keys: no command and no other agent's CLI ever has them in its environment.

A linked file is refused: what hides our folder from a command does not hide where a link leads, and cannot, since the
file there may be replaced while the command runs.
"""

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from sightline.events import Notice
from sightline.exceptions import SightlineError, UserMistake
from sightline.paths import keys_folder
from sightline.settings._files import held, read_small, replace
from sightline.text import clean_text


def stored_keys() -> dict[str, str]:
    """By the names of their variables, to recognise them; none where the file cannot be read (`keys_notice`)."""
    try:
        return _read()
    except UserMistake:
        return {}


def keys_notice() -> Notice | None:
    """That stored keys are neither used nor recognised, and why; None when they are. For where a session begins."""
    try:
        _read()
    except UserMistake as mistake:
        text = f"stored keys are not used, and not masked where they appear: {mistake.message}"
        return Notice(clean_text(text), "warning", mistake.hint)
    return None


def with_stored_keys(environ: Mapping[str, str]) -> dict[str, str]:
    """An environment with the stored keys it does not have itself. UserMistake when their file is a link."""
    _refuse_link()
    return {**environ, **{name: key for name, key in stored_keys().items() if not environ.get(name, "").strip()}}


def store_key(name: str, key: str) -> Path:
    """Returns the file it is in now. UserMistake when that is a link, or cannot be read: its keys would be lost."""
    _refuse_link()
    with held(_file()):
        keys = _read()
        with suppress(FileNotFoundError):
            _file().chmod(0o600)  # a replaced file has the mode of the one before
        replace(_file(), msgspec.json.format(msgspec.json.encode({**keys, name: key})) + b"\n")
    return _file()


def _read() -> dict[str, str]:
    """Empty only when there is no file. UserMistake when there is one that cannot be read."""
    try:
        data = read_small(_file())
        return {} if data is None else msgspec.json.decode(data, type=dict[str, str])
    except SightlineError as problem:
        raise UserMistake(problem.message, problem.hint) from None
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise UserMistake(f"cannot read {_file()}: {error}", "fix or remove the file") from None


def _refuse_link() -> None:
    if os.path.islink(_file()):
        raise UserMistake(
            f"{_file()} is a link: commands in the sandbox could read the keys where it leads",
            "replace the link with the file itself",
        )


def _file() -> Path:
    return keys_folder() / "keys.json"
