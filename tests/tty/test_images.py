"""Images: sent once, placed often, within a budget. tui-core-renderer.md §8 (inline images & memory)."""

import base64
import operator
import re

import pytest

from sightline.tty._component import Component
from sightline.tty._images import ImageBudget, ImageRow, ImageStore
from sightline.tty._images import _kitty as kitty
from sightline.tty.cells._width import measure


def png(width=100, height=60, filler=b""):
    return (
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + width.to_bytes(4, "big") + height.to_bytes(4, "big") + b"\x08\x06" + filler
    )


class Owner(Component):
    def __init__(self):
        self.invalidated = 0

    def invalidate(self):
        self.invalidated += 1


def commands(texts):
    """The control data of kitty's commands, as dictionaries, with their payload under ''."""
    found = re.findall("\x1b_G([^;\x1b]*);?([^\x1b]*)\x1b\\\\", "".join(texts))
    return [{**dict(part.split("=") for part in control.split(",")), "": payload} for control, payload in found]


def kitty_images(**options):
    return ImageStore("kitty", cell=(10, 20), first_number=0x20001, **options)


class TestKitty:
    """The kitty graphics protocol."""

    def test_the_bytes_travel_in_chunks(self):
        """§8: base64 in pieces of 4096 bytes; only the last says that no more follow; together they are the file."""
        data = png(filler=bytes(range(256)) * 40)
        sent = commands(kitty.transmit(77, data))
        assert [part["m"] for part in sent] == ["1"] * (len(sent) - 1) + ["0"]
        assert (sent[0]["a"], sent[0]["f"], sent[0]["i"]) == ("t", "100", "77")
        assert all(len(part[""]) == 4096 for part in sent[:-1])
        assert base64.b64decode("".join(part[""] for part in sent)) == data

    @pytest.mark.parametrize("placeholders", [True, False])
    def test_bytes_are_sent_once_however_often_it_is_drawn(self, placeholders):
        """§8 "never re-emit full base64 per frame": the second frame, and another size, send no bytes."""
        images = kitty_images(placeholders=placeholders)
        picture = images.picture(png(), Owner())
        images.draw(picture, 10, 3)
        assert [part["a"] for part in commands(images.take_pending())][:1] == ["t"]
        for size in ((10, 3), (10, 3), (5, 2), (10, 3)):
            images.draw(picture, *size)
            assert all(part["a"] == "p" and not part[""] for part in commands(images.take_pending()))
            images.draw(picture, *size)
            assert images.take_pending() == []

    def test_placed_at_the_cursor_it_stays_one_graphic(self):
        """§8 place-many: the rows carry a placement, always under the same id, that does not move the cursor."""
        images = kitty_images()
        picture = images.picture(png(), Owner())
        for size in ((10, 3), (6, 2)):
            *blank, last = images.draw(picture, *size)
            assert blank == [""] * (size[1] - 1)
            assert isinstance(last, ImageRow)
            assert (last, last.height) == (ImageRow("", last.sequence[1:], size[1]), size[1])
            (placement,) = commands([last.sequence])
            wanted = {
                "a": "p",
                "i": "131073",
                "p": "1",
                "c": str(size[0]),
                "r": str(size[1]),
                "C": "1",
                "q": "2",
                "": "",
            }
            assert placement == wanted

    def test_placeholders_are_ordinary_text(self):
        """§8 Unicode placeholders: each cell says its row and column, the colour the image; no row carries more."""
        images = kitty_images(placeholders=True)
        rows = images.draw(images.picture(png(), Owner()), 4, 2)
        assert [type(row) for row in rows] == [str, str]
        assert (
            rows[0]
            == "\x1b[38;2;2;0;1m"
            + "".join(f"\U0010eeee\u0305{mark}" for mark in "\u0305\u030d\u030e\u0310")
            + "\x1b[0m"
        )
        assert "\U0010eeee\u030d\u0305" in rows[1]
        virtual = commands(images.take_pending())[-1]
        assert (virtual["a"], virtual["U"], virtual["c"], virtual["r"]) == ("p", "1", "4", "2")

    def test_placeholders_take_one_cell_each(self):
        """Our width model counts a placeholder with its marks as one cell, for each of the 297 numbers there are."""
        rows = kitty.placeholders(kitty.FIRST_ID, kitty.MOST_CELLS, kitty.MOST_CELLS)
        assert len(set(rows)) == 297
        assert {measure(row) for row in rows} == {297}

    def test_after_the_screen_was_cleared_the_bytes_go_again(self):
        """Terminals drop images with the screen: a gesture that clears it sends what is shown once more."""
        images = kitty_images(limit=1, placeholders=True)
        old, new = images.picture(png(1, 1), Owner()), images.picture(png(2, 2), Owner())
        images.draw(old, 2, 1)
        images.take_pending()
        images.draw(new, 2, 1)
        images.take_pending()
        images.screen_cleared()
        assert [(part["a"], part["i"]) for part in commands(images.take_pending())] == [
            ("t", "131074"),
            ("p", "131074"),
        ]
        assert images.take_pending() == []


class TestBudget:
    """Only the most recent images are pixels."""

    def test_the_oldest_gives_way(self):
        """§8: when the cap is exceeded the demoted image is deleted by id with its data, and its component told."""
        images = kitty_images(limit=2)
        owners = [Owner() for _ in range(3)]
        told = []
        images.on_change = told.append
        pictures = [images.picture(png(), owner) for owner in owners]
        for picture in pictures:
            images.draw(picture, 10, 3)
            sent = images.take_pending()
        assert [(part["a"], part.get("d"), part["i"]) for part in commands(sent)] == [
            ("d", "I", "131073"),
            ("t", None, "131075"),
        ]
        assert told == owners[:1]
        assert [owner.invalidated for owner in owners] == [1, 0, 0]

    def test_who_gave_way_stays_text(self):
        """Two images over a budget of one do not take turns: that would redraw both for ever."""
        images = kitty_images(limit=1)
        old, new = images.picture(png(), Owner()), images.picture(png(), Owner())
        assert images.draw(old, 10, 3) is not None
        assert images.draw(new, 10, 3) is not None
        images.take_pending()
        for _ in range(3):
            assert images.draw(old, 10, 3) is None
            assert images.draw(new, 10, 3) is not None
        assert images.take_pending() == []

    def test_what_gives_way_before_it_was_sent_is_never_sent(self):
        """A hundred images drawn in one frame cost the bytes of those that are shown."""
        images = kitty_images(limit=2)
        for _ in range(100):
            images.draw(images.picture(png(), Owner()), 10, 3)
        assert [part["i"] for part in commands(images.take_pending())] == [str(0x20001 + 98), str(0x20001 + 99)]

    def test_a_dropped_image_is_deleted(self):
        """A component that is taken down leaves nothing in the terminal."""
        images = kitty_images()
        picture = images.picture(png(), Owner())
        images.draw(picture, 10, 3)
        images.take_pending()
        images.drop(picture)
        assert [part["a"] for part in commands(images.take_pending())] == ["d"]
        images.drop(picture)
        assert images.take_pending() == []

    def test_the_most_recent_are_those_with_the_highest_numbers(self):
        """An old image that is drawn late does not push out a newer one."""
        budget = ImageBudget(2)
        assert budget.admit(5) == budget.admit(9) == []
        assert budget.admit(3) == [3]
        assert [budget.is_live(number) for number in (3, 5, 9)] == [False, True, True]
        assert budget.admit(10) == [5]
        assert budget.admit(5) == []
        assert not budget.is_live(5)

    def test_no_budget_is_text_only(self):
        """A limit of nothing sends nothing."""
        images = kitty_images(limit=0)
        assert images.draw(images.picture(png(), Owner()), 10, 3) is None
        assert images.take_pending() == []


class TestOtherProtocols:
    """iTerm2's inline files, and no images at all."""

    def test_iterm2_gets_the_file_in_one_sequence(self):
        """The last row carries the file, fitted into the cells; nothing else is ever sent."""
        images = ImageStore("iterm2")
        data = png(filler=b"pixels")
        *_, last = images.draw(images.picture(data, Owner()), 10, 3)
        options, payload = re.fullmatch("\r\x1b\\]1337;File=([^:]*):([^\x07]*)\x07", last.sequence).groups()
        assert base64.b64decode(payload) == data
        assert {"inline=1", "width=10", "height=3"} <= set(options.split(";"))
        assert images.take_pending() == []

    def test_a_terminal_without_images_gets_none(self):
        """Text is all there is: in a multiplexer, over a pipe, when switched off."""
        images = ImageStore("none")
        assert images.draw(images.picture(png(), Owner()), 10, 3) is None

    @pytest.mark.parametrize(
        "data", [b"", b"no image", b"\x89PNG\r\n\x1a\n", png(0, 5), png(40_000, 2), png(20_000, 20_000)]
    )
    @pytest.mark.parametrize("protocol", ["kitty", "iterm2", "sixel"])
    def test_what_is_no_image_is_never_sent(self, protocol, data):
        """Bytes that are no image, or an absurd one, do not reach the terminal."""
        images = ImageStore(protocol)
        picture = images.picture(data, Owner())
        assert images.draw(picture, 10, 3) is None
        assert images.take_pending() == []
        assert picture.problem == "not readable"

    def test_a_huge_file_is_not_kept(self):
        """Bounded everywhere: over 16 MiB it is words."""
        picture = ImageStore("kitty").picture(png(filler=bytes(16 * 1024 * 1024)), Owner())
        assert (picture.data, picture.problem) == (b"", "too large")


class TestSize:
    """Cells from pixels."""

    @pytest.mark.parametrize(
        ("pixels", "most", "cells"),
        [
            ((100, 60), (80, 20), (10, 3)),
            ((101, 61), (80, 20), (11, 4)),
            ((1600, 800), (80, 30), (80, 20)),
            ((1600, 800), (40, 20), (40, 10)),
            ((800, 4000), (80, 20), (8, 20)),
            ((30_000, 1), (80, 20), (80, 1)),
            ((1, 30_000), (80, 20), (1, 20)),
            ((1, 1), (80, 20), (1, 1)),
            ((1600, 800), (0, 0), (1, 1)),
        ],
    )
    def test_it_keeps_its_proportions_and_fits(self, pixels, most, cells):
        """Never larger than it is, never larger than there is room, at least one cell."""
        images = ImageStore("kitty", cell=(10, 20))
        assert images.fit(images.picture(png(*pixels), Owner()), *most) == cells


class TestImageRow:
    """The only row that carries a sequence."""

    def test_it_equals_only_what_draws_the_same(self):
        """A graphic that comes, goes or changes is a change, although the text of the row is the same."""
        row = ImageRow("", "draw", 3)
        assert row == ImageRow("", "draw", 3)
        assert hash(row) == hash(ImageRow("", "draw", 3))
        for other in ("", ImageRow("", "other", 3), ImageRow("", "draw", 2), ImageRow("x", "draw", 3)):
            assert row != other
            assert other != row
            assert not operator.eq(row, other)

    def test_text_made_of_it_is_text(self):
        """Cutting, joining and padding lose the graphic: nothing made of strings can smuggle one."""
        row = ImageRow("abc", "draw", 3)
        for made in (row + "x", row[:], row[0:2], row.ljust(9), f"{row}", "".join([row, ""]), row.replace("a", "b")):
            assert type(made) is str

    def test_a_frame_around_it_moves_it(self):
        """In a box the graphic goes as many columns to the right as there are before it, box in box too."""
        row = ImageRow("", "draw", 3)
        assert row.sequence == "\rdraw"
        inner = row.framed("│ │", 2)
        assert (str(inner), inner.sequence, inner.height) == ("│ │", "\r\x1b[2Cdraw", 3)
        assert inner.framed("││ ││", 1).sequence == "\r\x1b[3Cdraw"
