"""Which folders the person trusts: only there a project's own settings and extensions are used.

Rules:

- A folder is trusted by its real path, with everything below it.
- The root and the home folder, and what they are in, are never trusted: too much comes to be below them.
- A list that cannot be read trusts nothing.
"""

import os
from pathlib import Path

from sightline.exceptions import SightlineError, UserMistake
from sightline.paths import data_folder
from sightline.settings._files import held, read_small, replace


def is_trusted(folder: Path) -> bool:
    try:
        trusted = trusted_folders()
    except SightlineError:
        return False
    real = Path(os.path.realpath(folder))
    return any(real.is_relative_to(each) for each in trusted if not _is_too_much(each))


def trusted_folders() -> list[Path]:
    """Real paths, sorted. A UserMistake when the list is damaged."""
    import json

    file = _file()
    data = read_small(file)
    if data is None:
        return []
    try:
        folders = json.loads(data)["folders"]
        return sorted({Path(folder) for folder in folders if os.path.isabs(folder)})
    except (ValueError, LookupError, TypeError, RecursionError):
        raise UserMistake(
            f"{file} is damaged; no folder is trusted", "remove it, and trust your folders anew"
        ) from None


def trust(folder: Path) -> Path:
    """Returns its real path."""
    real = Path(os.path.realpath(folder))
    if not real.is_dir():
        raise UserMistake(f"not a folder: {folder}", "name the folder of the project")
    if _is_too_much(real):
        raise UserMistake(f"{real} cannot be trusted as a whole", "trust the folder of one project")
    with held(_file()):
        _write([*trusted_folders(), real])
    return real


def untrust(folder: Path) -> Path:
    real = Path(os.path.realpath(folder))
    with held(_file()):
        folders = trusted_folders()
        if real not in folders:
            above = next((each for each in folders if real.is_relative_to(each)), None)
            hint = f"it is trusted as part of {above}" if above else "see `sightline config trust --list`"
            raise UserMistake(f"not in the list of trusted folders: {real}", hint)
        _write([each for each in folders if each != real])
    return real


def _is_too_much(folder: Path) -> bool:
    return Path(os.path.realpath(Path.home())).is_relative_to(folder)


def _file() -> Path:
    return data_folder() / "trusted.json"


def _write(folders: list[Path]) -> None:
    import json

    replace(_file(), json.dumps({"folders": sorted({str(folder) for folder in folders})}, indent=1).encode() + b"\n")
