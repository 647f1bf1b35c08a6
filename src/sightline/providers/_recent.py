"""Which conversation a folder had last with each provider, so that `--continue` can go on with it."""

import os
from pathlib import Path

import msgspec

from sightline.paths import data_folder, private_folder

_KEPT_AT_MOST = 1000


def last_session(provider: str, folder: str) -> str:
    """The provider's id of the last conversation in a folder, or nothing."""
    return _load(_file()).get(f"{provider}:{folder}", "")


def remember_session(provider: str, folder: str, session: str) -> None:
    """Keep it for next time. Not being able to is no reason to fail a run."""
    path, key = _file(), f"{provider}:{folder}"
    sessions = _load(path)
    if sessions.get(key) == session:
        return
    sessions.pop(key, None)
    sessions[key] = session
    for oldest in list(sessions)[:-_KEPT_AT_MOST]:
        del sessions[oldest]
    try:
        private_folder(path.parent)
        # Written beside it and moved over it: a reader sees the old file or the new one, never half of one.
        new = path.with_name(f"{path.name}.{os.getpid()}")
        with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "wb") as file:
            file.write(msgspec.json.encode(sessions))
        new.replace(path)
    except OSError:
        return


def _file() -> Path:
    return data_folder() / "last_sessions.json"


def _load(path: Path) -> dict[str, str]:
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, str])
    except (OSError, msgspec.MsgspecError):
        return {}
