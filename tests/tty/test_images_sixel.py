"""Sixel: our encoder read back by a decoder that knows nothing of it, and where decoding an image is needed at all."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.tty._component import Component
from sightline.tty._images import ImageStore
from sightline.tty._images import _pixels as pixels_module
from sightline.tty._images._sixel import encode


def decode(sequence):
    """Pixels by place, each a colour in percent: the rules of DEC STD 070, one character after the other."""
    body = re.fullmatch('\x1bP0;1;0q"1;1;(\\d+);(\\d+)(.*)\x1b\\\\', sequence, re.DOTALL)
    palette, found, colour, x, y = {}, {}, None, 0, 0
    for repeat, character, number, definition, control in re.findall(
        r"!(\d+)([?-~])|#(\d+)(;2;\d+;\d+;\d+)?|([$?-~-])", body[3]
    ):
        if number:
            colour = int(number)
            if definition:
                palette[colour] = tuple(map(int, definition.split(";")[2:]))
        elif control == "$":
            x = 0
        elif control == "-":
            x, y = 0, y + 6
        else:
            bits = ord(character or control) - 63
            for at in range(x, x + int(repeat or 1)):
                for row in (row for row in range(6) if bits >> row & 1):
                    assert (at, y + row) not in found, "a pixel in two colours"
                    found[at, y + row] = palette[colour]
            x += int(repeat or 1)
    return int(body[1]), int(body[2]), found


def rounded(red, green, blue):
    """The colour of the 6 × 7 × 6 cube next to this one, in percent."""
    return tuple(
        round(100 * ((part * (levels - 1) + 127) // 255) / (levels - 1))
        for part, levels in zip((red, green, blue), (6, 7, 6), strict=True)
    )


@settings(max_examples=60, deadline=None)
@given(st.data(), st.integers(1, 20), st.integers(1, 20))
def test_every_pixel_comes_back(data, width, height):
    """Each opaque pixel has its colour, rounded to the cube; each other one is left out; nothing lies outside."""
    pixel = st.one_of(st.sampled_from([(255, 0, 0, 255), (0, 0, 0, 0)]), st.tuples(*[st.integers(0, 255)] * 4))
    pixels = data.draw(st.lists(pixel, min_size=width * height, max_size=width * height))
    wide, high, found = decode(encode(width, height, bytes(part for each in pixels for part in each)))
    assert (wide, high) == (width, height)
    expected = {(at % width, at // width): rounded(*pixel[:3]) for at, pixel in enumerate(pixels) if pixel[3] >= 128}
    assert found == expected


def test_runs_are_written_short():
    """A plain area of 200 × 60 pixels takes a few dozen characters, not thousands."""
    assert len(encode(200, 60, b"\xff\x00\x00\xff" * 12_000)) < 150


class _Owner(Component):
    pass


JPEG = b"\xff\xd8\xff\xc0\0\x11\x08\x01\xe0\x02\x80\x03\x01\x22\0\0\0"
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x02\x80\0\0\x01\xe0\x08\x06\0\0\0"


@pytest.mark.parametrize(("protocol", "data"), [("sixel", PNG), ("kitty", JPEG)])
def test_without_a_decoder_there_are_words_and_a_hint(protocol, data, monkeypatch):
    """Sixel needs pixels and kitty PNG: where Pillow is missing the text says how to get it, and nothing is sent."""
    monkeypatch.setattr(pixels_module, "can_decode", lambda: False)
    images = ImageStore(protocol)
    picture = images.picture(data, _Owner())
    assert images.draw(picture, 10, 3) is None
    assert "pip install 'sightline[images]'" in picture.problem
    assert images.take_pending() == []


def _real_image(format):
    library = pytest.importorskip("PIL.Image")
    from io import BytesIO

    out = BytesIO()
    library.effect_noise((300, 200), 80).convert("RGB").save(out, format)
    return out.getvalue()


@pytest.mark.parametrize("format", ["PNG", "JPEG", "GIF", "WEBP"])
def test_sixel_of_a_real_image_fits_its_cells(format):
    """Whatever the format: no wider than its columns, no higher than its rows, in whole bands."""
    images = ImageStore("sixel", cell=(10, 20))
    *blank, last = images.draw(images.picture(_real_image(format), _Owner()), 15, 5)
    wide, high, found = decode(last.sequence.removeprefix("\r"))
    assert len(blank) == 4
    assert wide <= 150
    assert high <= 96
    assert len(found) == wide * high


def test_kitty_gets_a_jpeg_as_png():
    """Kitty knows no JPEG: it is decoded and sent as PNG, once."""
    images = ImageStore("kitty")
    picture = images.picture(_real_image("JPEG"), _Owner())
    assert images.draw(picture, 15, 5) is not None
    assert "iVBORw0KGgo" in "".join(images.take_pending())
    images.draw(picture, 8, 3)
    assert images.take_pending() == []


def test_broken_pixels_are_words():
    """A right header with nothing behind it cannot be decoded: text, said so, and not tried again."""
    pytest.importorskip("PIL.Image")
    images = ImageStore("sixel")
    picture = images.picture(PNG, _Owner())
    assert images.draw(picture, 10, 3) is None
    assert picture.problem == "not readable"


def test_work_can_be_done_elsewhere():
    """With a background nothing is decoded while rows are made: first text, then, when told, pixels."""
    waiting = []
    images = ImageStore("sixel", background=lambda work, done: waiting.append((work, done)))
    told = []
    images.on_change = told.append
    owner = _Owner()
    picture = images.picture(_real_image("PNG"), owner)
    assert images.draw(picture, 15, 5) is None
    assert images.draw(picture, 15, 5) is None
    assert picture.at_work
    ((work, done),) = waiting
    work()
    done()
    assert told == [owner]
    assert images.draw(picture, 15, 5) is not None
