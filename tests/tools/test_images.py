"""Images: recognised by their bytes, made to fit, refused with what to do."""

import builtins
import io
import os
import struct
import zlib
from pathlib import Path
from typing import Any

import pytest
from PIL import Image as Pillow

from sightline.tools import ToolError
from sightline.tools.files import _images
from sightline.tools.files._images import ImageFacts, fit, sniff
from sightline.tools.read import ReadTool
from tests.tools.support import make_context, run


def encoded(
    kind: str, size: tuple[int, int] = (30, 20), *, noise: bool = False, mode: str = "RGB", **options: Any
) -> bytes:
    picture = (
        Pillow.frombytes("RGB", size, os.urandom(size[0] * size[1] * 3)) if noise else Pillow.new("RGB", size, "red")
    )
    out = io.BytesIO()
    picture.convert(mode).save(out, kind, **options)
    return out.getvalue()


@pytest.fixture
def no_pillow(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine without the extra."""
    real = builtins.__import__

    def missing(name: str, *args: Any, **options: Any) -> Any:
        if name == "PIL" or name.startswith("PIL."):
            raise ImportError(name)
        return real(name, *args, **options)

    monkeypatch.setattr(builtins, "__import__", missing)


KINDS = [
    pytest.param("PNG", {}, "image/png", id="png"),
    pytest.param("JPEG", {}, "image/jpeg", id="jpeg"),
    pytest.param("JPEG", {"progressive": True, "exif": b"Exif\0\0" + b"x" * 500}, "image/jpeg", id="jpeg, progressive"),
    pytest.param("GIF", {}, "image/gif", id="gif"),
    pytest.param("WEBP", {}, "image/webp", id="webp"),
    pytest.param("WEBP", {"lossless": True}, "image/webp", id="webp, lossless"),
    pytest.param("WEBP", {"mode": "RGBA", "exif": b"Exif\0\0xx"}, "image/webp", id="webp, extended"),
    pytest.param("BMP", {}, "image/bmp", id="bmp"),
]


@pytest.mark.parametrize(("kind", "options", "media_type"), KINDS)
def test_kind_and_size_are_in_the_first_bytes(kind: str, options: dict[str, Any], media_type: str) -> None:
    """read.md/Images: found from metadata, without decoding."""
    assert sniff(encoded(kind, **options)) == ImageFacts(media_type, 30, 20)


@pytest.mark.parametrize("kind", ["TIFF", "AVIF", "ICO"])
def test_other_images_are_known_as_images(kind: str) -> None:
    """So that nobody takes them for text."""
    facts = sniff(encoded(kind, (32, 32)))
    assert facts is not None
    assert facts.media_type in ("image/tiff", "image/avif", "image/x-icon")


@pytest.mark.parametrize(
    "data", [b"", b"BM is how this text begins, and it goes on", b"GIF", b"\x89PNG", b"RIFFxxxxWAVE"]
)
def test_what_is_no_image_is_none(data: bytes) -> None:
    """A few letters do not make one."""
    assert sniff(data) is None


def test_every_cut_of_an_image_can_be_looked_at() -> None:
    """Half a file is no crash."""
    for kind in ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF", "ICO"):
        data = encoded(kind)
        for end in range(len(data)):
            sniff(data[:end])


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP"])
def test_an_image_within_the_limits_goes_as_it_is(kind: str) -> None:
    """Not a byte is changed."""
    data = encoded(kind)
    fitted = fit(data, max_bytes=500_000, max_side=1568)
    assert fitted.image.data == data
    assert fitted.note == f"[Image: image/{kind.lower()}, 30x20]"


@pytest.mark.parametrize(
    ("kind", "size", "limits"),
    [
        pytest.param("PNG", (400, 200), {"max_bytes": 500_000, "max_side": 100}, id="too wide"),
        pytest.param("PNG", (200, 400), {"max_bytes": 500_000, "max_side": 100}, id="too high"),
        pytest.param("PNG", (300, 300), {"max_bytes": 20_000, "max_side": 1568}, id="too many bytes"),
        pytest.param("BMP", (50, 50), {"max_bytes": 500_000, "max_side": 1568}, id="a format no model takes"),
        pytest.param("TIFF", (50, 50), {"max_bytes": 500_000, "max_side": 1568}, id="tiff"),
    ],
)
def test_an_image_over_the_limits_is_made_to_fit(kind: str, size: tuple[int, int], limits: dict[str, int]) -> None:
    """In a format models take, with how to get from its coordinates to those of the file."""
    fitted = fit(encoded(kind, size, noise=True), **limits)
    facts = sniff(fitted.image.data)
    assert facts is not None
    assert facts.media_type == fitted.image.media_type
    assert facts.media_type in ("image/png", "image/jpeg", "image/webp")
    assert max(facts.width, facts.height) <= limits["max_side"]
    assert len(fitted.image.data) <= limits["max_bytes"]
    assert f"{size[0]}x{size[1]}, shown as" in fitted.note
    assert ("coordinates ×" in fitted.note) == (facts.width != size[0])


def test_transparency_survives() -> None:
    """Never encoded as JPEG."""
    fitted = fit(encoded("PNG", (300, 300), noise=True, mode="RGBA"), max_bytes=20_000, max_side=200)
    assert fitted.image.media_type in ("image/png", "image/webp")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        pytest.param(b"x" * (20 * 1024**2 + 1), "up to 20 MB", id="read.md/Images/over 20 MiB"),
        pytest.param(encoded("PNG")[:60], "cannot be decoded", id="read.md/Images/cut off"),
        pytest.param(encoded("JPEG")[:200] + b"\0" * 50, "cannot be decoded", id="read.md/Images/broken"),
        pytest.param(b"no image", "not an image", id="read.md/Images/no image"),
    ],
)
def test_what_cannot_be_shown_is_refused(data: bytes, words: str) -> None:
    """A broken image is told of here, not by a model's server."""
    with pytest.raises(ToolError, match=words):
        fit(data, max_bytes=500_000, max_side=1568)


def test_a_small_file_with_too_many_pixels_is_refused() -> None:
    """It would unfold to gigabytes."""
    header = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    chunk = b"IHDR" + header
    data = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + chunk + struct.pack(">I", zlib.crc32(chunk))
    with pytest.raises(ToolError, match="too many"):
        fit(data + encoded("PNG")[33:], max_bytes=500_000, max_side=1568)


@pytest.mark.usefixtures("no_pillow")
def test_without_pillow_small_images_pass_and_others_name_the_extra() -> None:
    """The way out is in the message."""
    data = encoded_before = SMALL
    assert fit(data, max_bytes=500_000, max_side=1568).image.data == encoded_before
    for other, limits in [
        (SMALL, (500_000, 10)),
        (SMALL, (10, 1568)),
        (BITMAP, (500_000, 1568)),
        (JPEG[:40], (99, 99)),
    ]:
        with pytest.raises(ToolError, match=r"sightline\[images\]"):
            fit(other, max_bytes=limits[0], max_side=limits[1])


SMALL, BITMAP, JPEG = encoded("PNG"), encoded("BMP"), encoded("JPEG")


async def test_read_shows_an_image(tmp_path: Path) -> None:
    """read.md/Images, Outputs: a note and the image, whatever its name and selector say."""
    context = make_context(tmp_path)
    (context.cwd / "picture.txt").write_bytes(SMALL)
    for path in ("picture.txt", "picture.txt:raw", "picture.txt:1-2"):
        outcome = await run(ReadTool(), context, path=path)
        assert outcome.text == f"[Image: image/png, 30x20] picture.txt ({len(SMALL)} B)"
        assert [image.data for image in outcome.images] == [SMALL]
        assert outcome.details["ui"]["kind"] == "image"


async def test_read_makes_an_image_fit_the_settings(tmp_path: Path) -> None:
    """images.max_side and images.max_bytes."""
    context = make_context(tmp_path, images={"max_side": 64, "max_bytes": 9_000})
    (context.cwd / "a.png").write_bytes(encoded("PNG", (200, 100), noise=True))
    (image,) = (await run(ReadTool(), context, path="a.png")).images
    facts = sniff(image.data)
    assert facts is not None
    assert (facts.width, facts.height) == (64, 32)
    assert len(image.data) <= 9_000


async def test_read_refuses_an_image_that_is_too_large_before_reading_it(tmp_path: Path) -> None:
    """read.md/Limits & Caps: 20 MiB."""
    context = make_context(tmp_path)
    with (context.cwd / "a.png").open("wb") as file:
        file.write(SMALL)
        file.truncate(_images.MAX_INPUT + 1)
    with pytest.raises(ToolError, match="up to 20 MB"):
        await run(ReadTool(), context, path="a.png")
