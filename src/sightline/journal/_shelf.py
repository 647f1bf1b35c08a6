"""Files stored beside a session's journal: the output of calls, and what a tool put there (an image, a long page)."""

import os
import re
from pathlib import Path

from sightline.paths import private_folder

_name = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,120}").fullmatch


def store_file(folder: Path, name: str, data: bytes) -> Path:
    """Store a file under this name, whole or not at all; only the owner may read it."""
    if _name(name) is None:
        raise ValueError(f"not the name of an artifact: {name!r}")
    path = folder / "artifacts" / name
    private_folder(path.parent)
    half = path.with_name(f".{name}.{os.getpid()}")
    fd = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data)
        half.replace(path)
    except OSError:
        half.unlink(missing_ok=True)
        raise
    return path


def is_private(folder: Path, name: str) -> bool:
    """Whether it is the output of a command the user ran in private (`!!`), as the journal has it."""
    call = name.removesuffix(".out").removesuffix(".idx")
    word = call.encode()
    try:
        with (folder / "journal.jsonl").open("rb") as journal:
            return any(_is_private_use(line, call) for line in journal if word in line and b'"private"' in line)
    except OSError:
        return False


def _is_private_use(line: bytes, call: str) -> bool:
    import msgspec

    try:
        event = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return True  # rather not shown
    if not isinstance(event, dict) or event.get("id") != call or event.get("source") != "person":
        return False
    args = event.get("args")
    return isinstance(args, dict) and args.get("private") is True


def artifact_file(folder: Path, name: str) -> Path | None:
    """The file of an artifact, by its name or by the call whose output it is; None when there is none."""
    if _name(name) is None:
        return None
    for path in (folder / "artifacts" / name, folder / "artifacts" / f"{name}.out"):
        if path.is_file():
            return path
    return None
