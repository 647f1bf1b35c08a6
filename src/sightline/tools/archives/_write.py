"""Putting one entry into an archive: the archive is rewritten whole and replaced at once.

The bytes of every other entry, its place in the order and all that is recorded with it are copied as they are. An
archive where that is not possible is left alone, and the error names the reason.
"""

import io
from pathlib import Path

from sightline.tools._tool import ToolError
from sightline.tools.archives._archive import Archive, trouble_named
from sightline.tools.archives._limits import REWRITE_BYTES
from sightline.tools.archives._names import normalize_entry
from sightline.tools.files._atomic import writing


def entry_target(inner: str) -> str:
    """The entry a write is for; ToolError when it cannot be a file."""
    name = normalize_entry(inner) if inner.strip() else ""
    if inner.endswith(("/", "\\")) and (name or not inner.strip("./\\ ")):
        raise ToolError("Archive write path must target a file, not a directory: leave out the last /.")
    if not name:
        raise ToolError("Archive write path must target a file inside the archive: archive.zip:path/inside.txt")
    return name


def write_entry(path: Path, entry: str, data: bytes) -> None:
    """Make `data` the content of an entry. An archive that does not exist yet is made, its folder as well."""
    name = entry_target(entry)
    with writing(path, make_folders=True) as file:
        before = file.content(REWRITE_BYTES) or b""
        if before:
            _check(path, before, name)
        with trouble_named(path):
            rewritten = _rewritten(path, before, name, data)
        file.replace(rewritten)


def _rewritten(path: Path, before: bytes, name: str, data: bytes) -> bytes:
    if path.name.lower().endswith(".zip"):
        from sightline.tools.archives._zip import zip_with

        return zip_with(before, name, data)
    from sightline.tools.archives._tar import tar_with

    return tar_with(before, name, data, packed=not path.name.lower().endswith(".tar"))


def _check(path: Path, before: bytes, name: str) -> None:
    """ToolError unless the archive is whole and has room for an entry of this name."""
    if len(before) > REWRITE_BYTES:
        raise ToolError(
            f"Cannot write {path.name}: archives above {REWRITE_BYTES // 2**20} MiB are not rewritten. Use a command."
        )
    with Archive.of(path, io.BytesIO(before)) as archive:
        if archive.is_folder(name):
            raise ToolError(
                f"Archive write path must target a file, not a directory: '{name}' is a folder in {path.name}."
            )
        parts = name.split("/")
        for depth in range(1, len(parts)):
            if archive.is_file(folder := "/".join(parts[:depth])):
                raise ToolError(f"'{folder}' in {path.name} is a file: nothing can be put below it.")
