"""Images for a model: what kind bytes are, and how they become small enough.

Kind and size are read from the bytes themselves. An image within the limits goes as it is; making one smaller, or
another format of it, takes pillow (extra `images`).
"""

import io
import struct
from typing import TYPE_CHECKING

import msgspec

from sightline.tools._tool import Image, ToolError

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

MAX_INPUT = 20 * 1024**2
MAX_PIXELS = 80_000_000  # a small file can unfold to gigabytes
SNIFFED = 64 * 1024  # of a file, to find out what it is
_FOR_MODELS = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_QUALITIES = (85, 70, 50)
_SMALLEST = 64
_EXTRA = 'pip install "sightline[images]"'


class ImageFacts(msgspec.Struct, frozen=True):
    media_type: str
    width: int = 0  # 0: not in the beginning of the file
    height: int = 0


class Fitted(msgspec.Struct, frozen=True):
    """An image a model can be shown, and what was done to it, for the model."""

    image: Image
    note: str


def sniff(data: bytes) -> ImageFacts | None:
    """What image this is the beginning of; None when it is none."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return ImageFacts("image/png", *_unpacked(">II", data, 16))
    if data.startswith((b"GIF87a", b"GIF89a")):
        return ImageFacts("image/gif", *_unpacked("<HH", data, 6))
    if data.startswith(b"\xff\xd8\xff"):
        return ImageFacts("image/jpeg", *_jpeg_size(data))
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return ImageFacts("image/webp", *_webp_size(data))
    if data[:2] == b"BM" and len(data) > 26 and data[6:10] == b"\0\0\0\0":
        return ImageFacts("image/bmp", *(abs(side) for side in _unpacked("<ii", data, 18)))
    if data.startswith((b"II*\0", b"MM\0*")):
        return ImageFacts("image/tiff")
    if data[4:8] == b"ftyp" and data[8:12] in (b"avif", b"avis", b"heic", b"heix", b"mif1"):
        return ImageFacts("image/avif" if data[8:11] == b"avi" else "image/heic")
    if data.startswith(b"\0\0\1\0") and len(data) > 22:
        return ImageFacts("image/x-icon", data[6] or 256, data[7] or 256)
    return None


def fit(data: bytes, *, max_bytes: int, max_side: int) -> Fitted:
    """An image within these limits. Blocking. ToolError when it is too big, no image, or needs pillow."""
    if len(data) > MAX_INPUT:
        raise too_large(len(data))
    facts = sniff(data)
    if facts is None:
        raise ToolError("This is not an image of a known format.")
    if facts.width * facts.height > MAX_PIXELS:
        raise _too_many_pixels(facts.width, facts.height)
    is_small = len(data) <= max_bytes and 0 < max(facts.width, facts.height) <= max_side
    fits = is_small and facts.media_type in _FOR_MODELS
    try:
        picture = _opened(data, facts)
    except ImportError:
        if not fits:
            raise ToolError(_needs_pillow(facts, data, max_bytes, max_side)) from None
    else:
        if not fits:
            return _smaller(picture, facts, max_bytes, max_side)
    return Fitted(Image(facts.media_type, data), _note(facts))


def too_large(size: int) -> ToolError:
    limit = MAX_INPUT // 1024**2
    return ToolError(f"The image has {size / 1024**2:.1f} MB; images are read up to {limit} MB. Make it smaller first.")


def _too_many_pixels(width: int, height: int) -> ToolError:
    return ToolError(f"The image has {width}x{height} pixels, which is too many to open. Make it smaller first.")


def _opened(data: bytes, facts: ImageFacts) -> "Picture":
    """Decoded: a broken image is reported here, not by the model's server."""
    from PIL import Image as pillow

    try:
        picture: Picture = pillow.open(io.BytesIO(data))
        if picture.width * picture.height > MAX_PIXELS:
            raise _too_many_pixels(picture.width, picture.height)
        picture.load()
    except ToolError:
        raise
    except Exception as error:  # pillow raises whatever the decoder of the day does
        reason = " ".join(str(error).split())[:200]
        raise ToolError(f"This {facts.media_type} image cannot be decoded: {reason}") from None
    return picture


def _smaller(picture: "Picture", facts: ImageFacts, max_bytes: int, max_side: int) -> Fitted:
    from PIL import ImageOps

    turned = ImageOps.exif_transpose(picture)
    has_alpha = turned.mode in ("RGBA", "LA", "PA") or "transparency" in turned.info
    turned = turned.convert("RGBA" if has_alpha else "RGB")
    original = turned.size
    side = min(max_side, max(original))
    while side >= min(_SMALLEST, max(original)):
        shown = turned.copy()
        shown.thumbnail((side, side))
        for media_type, data in _encodings(shown, has_alpha=has_alpha):
            if len(data) <= max_bytes:
                note = _note(ImageFacts(facts.media_type, *original), shown=shown.size, as_type=media_type)
                return Fitted(Image(media_type, data), note)
        side = side * 3 // 4
    raise ToolError(f"The image cannot be made smaller than {max_bytes} bytes.")


def _encodings(picture: "Picture", *, has_alpha: bool) -> list[tuple[str, bytes]]:
    """Without loss first, then with more and more of it."""
    found = [("image/png", _encoded(picture, "PNG"))]
    if has_alpha:
        return [*found, *(("image/webp", _encoded(picture, "WEBP", quality)) for quality in _QUALITIES)]
    return [*found, *(("image/jpeg", _encoded(picture, "JPEG", quality)) for quality in _QUALITIES)]


def _encoded(picture: "Picture", kind: str, quality: int = 100) -> bytes:
    out = io.BytesIO()
    picture.save(out, kind, **({} if kind == "PNG" else {"quality": quality}))
    return out.getvalue()


def _note(facts: ImageFacts, *, shown: tuple[int, int] | None = None, as_type: str = "") -> str:
    size = f", {facts.width}x{facts.height}" if facts.width else ""
    if shown is None:
        return f"[Image: {facts.media_type}{size}]"
    scale = f"; coordinates × {facts.width / shown[0]:.2f} are those of the file" if shown[0] != facts.width else ""
    return f"[Image: {facts.media_type}{size}, shown as {as_type}, {shown[0]}x{shown[1]}{scale}]"


def _needs_pillow(facts: ImageFacts, data: bytes, max_bytes: int, max_side: int) -> str:
    if facts.media_type not in _FOR_MODELS:
        return f"{facts.media_type} has to be converted for a model, which needs an extra: {_EXTRA}"
    if not facts.width:
        return f"The size of this {facts.media_type} image cannot be recognised without an extra: {_EXTRA}"
    return (
        f"The image ({facts.width}x{facts.height}, {len(data)} bytes) is over the limit of {max_side} pixels a side "
        f"and {max_bytes} bytes; making it smaller needs an extra: {_EXTRA}"
    )


def _unpacked(form: str, data: bytes, at: int) -> tuple[int, int]:
    if len(data) < at + struct.calcsize(form):
        return 0, 0
    first, second = struct.unpack_from(form, data, at)
    return first, second


def _jpeg_size(data: bytes) -> tuple[int, int]:
    """From the first start-of-frame segment; the segments before it are skipped by their lengths."""
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        kind = data[at + 1]
        if kind == 0xFF:  # filling
            at += 1
        elif 0xC0 <= kind <= 0xCF and kind not in (0xC4, 0xC8, 0xCC):
            height, width = _unpacked(">HH", data, at + 5)
            return width, height
        elif kind == 0x01 or 0xD0 <= kind <= 0xD8:
            at += 2
        else:
            at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return 0, 0


def _webp_size(data: bytes) -> tuple[int, int]:
    kind = data[12:16]
    if kind == b"VP8X" and len(data) >= 30:
        return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
    if kind == b"VP8L" and len(data) >= 25:
        bits = int.from_bytes(data[21:25], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if kind == b"VP8 ":
        width, height = _unpacked("<HH", data, 26)
        return width & 0x3FFF, height & 0x3FFF
    return 0, 0
