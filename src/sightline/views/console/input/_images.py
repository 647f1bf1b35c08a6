"""Image files the user pastes (a path that was copied, a file dragged onto the terminal) or mentions (`@shot.png`).

A terminal pastes a dragged file as text: a path with its spaces escaped or quoted, or a `file:` address, several of
them on one line. Only a path with a beginning (`/`, `~/`, `./`, `../`) counts: the bare name of a file is more often
part of a sentence. The first bytes of the file decide whether it is an image. Reading them takes a few microseconds,
and is done only if the text ends like the name of an image.
"""

import os
import re
from pathlib import Path

from sightline.text import clean_line
from sightline.views.console.input._submission import Attachment

LARGEST = 20 * 1024**2
MOST = 20
_SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp")
_BEGINNINGS = ("/", "~/", "./", "../", "file://")
_LONGEST_TEXT = 8192
_mentions = re.compile(r'(?<!\S)@(?:"([^"\n]+)"|([^\s"]+))')


def pasted_images(text: str, folder: str) -> list[Attachment]:
    """The images a pasted text names; empty when it is any other text."""
    text = text.strip()
    if len(text) > _LONGEST_TEXT or not text.rstrip("'\"").lower().endswith(_SUFFIXES):
        return []
    words = _words(text)
    if len(words) > MOST or not all(word.startswith(_BEGINNINGS) for word in words):
        return []
    found = [image_file(_path(word, folder)) for word in words]
    return [one for one in found if one is not None] if None not in found else []


def mentioned_images(text: str, folder: str) -> list[Attachment]:
    """The images a prompt names with `@`, each once."""
    named = [quoted or bare for quoted, bare in _mentions.findall(text)]
    names = dict.fromkeys(name for name in named if name.lower().endswith(_SUFFIXES))
    found = [image_file(_path(name, folder)) for name in list(names)[:MOST]]
    return [one for one in found if one is not None]


def image_file(path: Path, name: str = "") -> Attachment | None:
    """The image in a file; None when it is not an image, or too large."""
    from sightline.handles import read_at_most

    try:  # never a pipe or a device: to read one may wait, and to open one may do something
        media_type, size = media_type_of(read_at_most(path, 16)), path.stat().st_size
    except (OSError, ValueError):
        return None
    if not media_type or size > LARGEST:
        return None
    return Attachment(path, clean_line(name or path.name), size, media_type)


def media_type_of(data: bytes) -> str:
    """The media type of an image models accept, by its first bytes; empty: it is not one."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    return "image/webp" if data[:4] == b"RIFF" and data[8:12] == b"WEBP" else ""


def _words(text: str) -> list[str]:
    """The paths in a text. Dragged ones are quoted or escaped; the spaces of a copied one may not be."""
    import shlex

    if "\n" in text:
        return [word for line in text.splitlines() if line.strip() for word in _words(line.strip())]
    if os.path.exists(os.path.expanduser(text)):
        return [text]
    try:
        return shlex.split(text)
    except ValueError:
        return [text]


def _path(word: str, folder: str) -> Path:
    if word.startswith("file://"):
        from urllib.parse import unquote, urlsplit

        word = unquote(urlsplit(word).path)
    return Path(os.path.normpath(os.path.join(folder, os.path.expanduser(word))))
