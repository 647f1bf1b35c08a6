"""What OpenCode read, as it shows it itself: a file's lines or a folder's names, without the marks its model gets."""

import msgspec

from sightline.events import ListingFact, ReadFact
from sightline.text import clean_line, clean_text


class _File(msgspec.Struct, tag_field="type", tag="file"):
    text: str
    path: str = ""
    lineStart: int = 1
    lineEnd: int | None = None
    totalLines: int | None = None


class _Folder(msgspec.Struct, tag_field="type", tag="directory"):
    entries: list[str]
    path: str = ""
    totalEntries: int | None = None


def shown_read(display: object) -> tuple[str, dict[str, object]] | None:
    """The text and the details of the result; None for what is neither."""
    try:
        read = msgspec.convert(display, _File | _Folder)
    except (ValueError, RecursionError):
        return None
    path = clean_line(read.path)
    if isinstance(read, _Folder):
        count = len(read.entries) if read.totalEntries is None else read.totalEntries
        text = "\n".join([clean_line(name) for name in read.entries])
        return text, ListingFact(path=path, entries=count).as_details()
    text = clean_text(read.text)
    total = read.totalLines if read.totalLines is not None else text.count("\n") + 1
    last = read.lineEnd if read.lineEnd is not None else read.lineStart + text.count("\n")
    return text, ReadFact(path=path, first=read.lineStart, last=last, total=total).as_details()
