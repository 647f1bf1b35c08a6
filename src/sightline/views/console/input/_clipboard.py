"""The image on the clipboard, through the programs that can read it: `wl-paste`, `xclip`, `pngpaste`.

- Which of them runs depends on where the clipboard is: Wayland, X11, macOS. None is part of any system, so the error
  names the missing program.
- The image is written to a private file, named after its content, in the program's folder, so that prompts and drafts
  can refer to it. The last fifty are stored.
- A program that takes longer than five seconds, or writes too much, is killed.
"""

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import msgspec

from sightline.exec import UntrustedProgram, find_program, trusted_environment
from sightline.paths import data_folder, private_folder
from sightline.views.console.input._images import LARGEST, image_file, media_type_of
from sightline.views.console.input._submission import Attachment

_KINDS = ("image/png", "image/jpeg", "image/webp", "image/gif")
_PATIENCE = 5.0
_STORED = 50


class NoImage(Exception):
    """There is no image to attach: the reason, and a hint."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message, self.hint = message, hint


class _Reader(msgspec.Struct, frozen=True):
    program: str
    package: str
    types: tuple[str, ...]
    """Arguments that list the types on the clipboard; empty for a program that reads images only."""
    read: tuple[str, ...]
    """Arguments that write the image as `{kind}`."""


_WAYLAND = _Reader("wl-paste", "wl-clipboard", ("--list-types",), ("--no-newline", "--type", "{kind}"))
_X11 = _Reader(
    "xclip",
    "xclip",
    ("-selection", "clipboard", "-target", "TARGETS", "-out"),
    ("-selection", "clipboard", "-target", "{kind}", "-out"),
)
_MACOS = _Reader("pngpaste", "pngpaste", (), ("-",))


def clipboard_image() -> Attachment:
    """Store the image on the clipboard in a file. Raises NoImage. For a thread."""
    reader, program = _found()
    offered = _run([program, *reader.types]).decode("utf-8", "replace").split() if reader.types else [_KINDS[0]]
    kind = next((kind for kind in _KINDS if kind in offered), None)
    data = b"" if kind is None else _run([program, *(part.format(kind=kind) for part in reader.read)])
    if not media_type_of(data):
        raise NoImage("there is no image on the clipboard", "copy one, or paste the path of a file")
    return _store(data)


def _found() -> tuple[_Reader, str]:
    readers = _readers()
    for reader in readers:
        try:
            program = find_program(reader.program)
        except UntrustedProgram as refused:
            raise NoImage(refused.message, refused.hint) from None
        if program:
            return reader, program
    if not readers:
        raise NoImage("no clipboard can be reached from here", "paste the path of an image file instead")
    missing = " or ".join(reader.program for reader in readers)
    packages = " or ".join(reader.package for reader in readers)
    raise NoImage(f"{missing} is needed to read images from the clipboard", f"install {packages}, or paste a path")


def _readers() -> list[_Reader]:
    if sys.platform == "darwin":
        return [_MACOS]
    places = (("WAYLAND_DISPLAY", _WAYLAND), ("DISPLAY", _X11))
    return [reader for variable, reader in places if os.environ.get(variable)]


def _run(argv: list[str]) -> bytes:
    """The whole output of a program; empty when it fails, takes too long or writes too much."""
    import threading

    try:
        process = subprocess.Popen(
            argv,
            env=trusted_environment(os.environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except OSError:
        return b""
    late = threading.Timer(_PATIENCE, process.kill)
    late.start()
    try:
        assert process.stdout is not None
        data = process.stdout.read(LARGEST + 1)
        if len(data) > LARGEST:
            process.kill()
        process.stdout.close()
        return data if process.wait() == 0 else b""
    finally:
        late.cancel()


def _store(data: bytes) -> Attachment:
    from hashlib import sha256

    folder = data_folder() / "pasted"
    suffix = media_type_of(data).removeprefix("image/")
    path = folder / f"{sha256(data).hexdigest()[:16]}.{suffix}"
    try:
        private_folder(folder)
        _make_room(folder)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with open(descriptor, "wb") as file:
            file.write(data)
    except OSError as problem:
        raise NoImage(f"cannot store the image: {problem.strerror or problem}", f"check {folder}") from problem
    found = image_file(path, f"clipboard.{suffix}")
    assert found is not None, "the image is no longer on the clipboard"
    return found


def _make_room(folder: Path) -> None:
    files = sorted(folder.iterdir(), key=lambda file: file.stat().st_mtime)
    for file in files[: max(0, len(files) - _STORED + 1)]:
        with suppress(OSError):
            file.unlink()
