"""Size and format from an image's first bytes, and nothing worse than None from hostile ones."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sightline.tty._images import ImageHeader, read_header

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x02\x80\0\0\x01\xe0\x08\x06\0\0\0"
GIF = b"GIF89a\x80\x02\xe0\x01\xf7\0\0"
JPEG_START = b"\xff\xd8\xff\xe0\0\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0"
JPEG_FRAME = b"\0\x11\x08\x01\xe0\x02\x80\x03\x01\x22\0"
VP8X = b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x7f\x02\0\xdf\x01\0"
VP8L = b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f" + (639 | 479 << 14).to_bytes(4, "little") + b"\0" * 8
VP8 = b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a\x80\x02\xe0\x01\0\0"


@pytest.mark.parametrize(
    ("data", "format"),
    [
        (PNG, "png"),
        (GIF, "gif"),
        (GIF.replace(b"89a", b"87a"), "gif"),
        (JPEG_START + b"\xff\xc0" + JPEG_FRAME, "jpeg"),
        (JPEG_START + b"\xff\xc4\0\x04ab\xff\xff\xff\xc2" + JPEG_FRAME, "jpeg"),
        (VP8X, "webp"),
        (VP8L, "webp"),
        (VP8, "webp"),
    ],
)
def test_size_and_format_are_read(data, format):
    """PNG, JPEG (baseline and progressive, whatever precedes the frame), GIF and the three kinds of WebP."""
    assert read_header(data) == ImageHeader(format, 640, 480)


@pytest.mark.parametrize("data", [PNG, GIF, JPEG_START + b"\xff\xc0" + JPEG_FRAME, VP8X, VP8L, VP8])
def test_a_cut_header_is_no_image(data):
    """At whatever byte it ends: no exception, and never a made-up size."""
    for end in range(len(data)):
        assert read_header(data[:end]) in (None, ImageHeader(read_header(data).format, 640, 480))


@given(
    st.sampled_from([b"\x89PNG\r\n\x1a\n", b"\xff\xd8", b"GIF89a", b"RIFF", b"RIFF\0\0\0\0WEBPVP8L", b""]), st.binary()
)
@example(b"\xff\xd8", b"\xff" * 5000)
@example(b"\xff\xd8", b"\xff\xe0\0\0" * 5000)
@example(b"\xff\xd8", b"\xff\xe0\0\x02" * 5000)
def test_hostile_bytes_never_raise(start, rest):
    """Whatever follows a signature: a header with a sane size, or None; segments of no length end too."""
    header = read_header(start + rest)
    assert header is None or (0 < header.width <= 32_767 and 0 < header.height <= 32_767)
