"""Answers that are no text: images, and documents of office programs."""

import asyncio
import shutil
import tempfile
from pathlib import Path

from sightline.handles import ours
from sightline.tools._tool import Image, ToolError
from sightline.tools.files import _documents, _images
from sightline.tools.web._fetch import Fetched

MAX_IMAGE = 300 * 1024  # bytes of an image as a model is shown it
_OFFICE = "application/vnd.openxmlformats-officedocument"
_SUFFIXES = {
    "application/pdf": ".pdf",
    "application/x-pdf": ".pdf",
    "application/msword": ".doc",
    "application/vnd.ms-powerpoint": ".ppt",
    "application/vnd.ms-excel": ".xls",
    f"{_OFFICE}.wordprocessingml.document": ".docx",
    f"{_OFFICE}.presentationml.presentation": ".pptx",
    f"{_OFFICE}.spreadsheetml.sheet": ".xlsx",
    "application/rtf": ".rtf",
    "text/rtf": ".rtf",
    "application/epub+zip": ".epub",
}
_UNKNOWN = ("", "application/octet-stream", "binary/octet-stream", "application/zip", "application/x-download")


def is_image(fetched: Fetched) -> bool:
    """By its bytes: what a server calls it does not matter."""
    return _images.sniff(fetched.body[: _images.SNIFFED]) is not None


def as_image(fetched: Fetched, limits: tuple[int, int]) -> tuple[Image | None, str]:
    """An image a model can be shown and what it is, or why there is none. Blocking."""
    if fetched.cut:
        return None, f"[The image has more than {len(fetched.body) // 1024**2} MB, which is too much to show]"
    try:
        fitted = _images.fit(fetched.body, max_bytes=min(limits[0], MAX_IMAGE), max_side=limits[1])
    except ToolError as reason:
        return None, f"[Image not shown: {reason}]"
    return fitted.image, fitted.note


def document_suffix(fetched: Fetched) -> str:
    """What a file with this in it would be called; empty when it is no document."""
    found = _SUFFIXES.get(fetched.media_type, "")
    if found or fetched.body.startswith(b"%PDF-"):
        return found or ".pdf"
    suffix = Path(fetched.address.path).suffix.lower()
    return suffix if fetched.media_type in _UNKNOWN and suffix in _documents.EXTENSIONS else ""


async def document_text(body: bytes, suffix: str) -> str:
    """As markdown. DocumentError says why it cannot be."""
    folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="sightline-page-"))
    try:
        path = folder / f"document{suffix}"
        await asyncio.to_thread(path.write_bytes, body)
        with ours(path):
            return await _documents.convert(path)
    finally:
        await asyncio.shield(asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True))
