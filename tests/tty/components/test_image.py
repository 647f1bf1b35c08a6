"""The image component: pixels, words, and a height that stays. tui-core-renderer.md §8."""

import pytest

from sightline.tty._images import ImageRow, ImageStore
from sightline.tty.components._image import ImageComponent
from tests.tty.test_images import commands, png


def images(protocol="kitty", **options):
    return ImageStore(protocol, cell=(10, 20), first_number=0x20001, **options)


def test_words_where_there_are_no_pixels():
    """What it is, its format and its size, in one row."""
    image = ImageComponent(png(640, 480), "a chart", images=images("none"))
    assert list(image.render(60)) == ["[image: a chart · PNG 640×480]"]
    assert list(image.render(12)) == ["[image: a c…"]


def test_what_is_no_image_says_so():
    """Nothing is sent, nothing is hidden."""
    image = ImageComponent(b"nonsense", "a chart", images=images())
    assert list(image.render(60)) == ["[image: a chart · not readable]"]


@pytest.mark.parametrize("placeholders", [True, False])
def test_demotion_keeps_the_height(placeholders):
    """§8: once a graphic was shown, its rows stay: reserved rows and the words in the last; nothing below it shifts."""
    store = images(limit=1, placeholders=placeholders)
    changed = []
    store.on_change = changed.append
    first, second = (
        ImageComponent(png(100, 100), "first", images=store),
        ImageComponent(png(100, 60), "second", images=store),
    )
    shown = first.render(80)
    assert len(shown) == 5
    assert first.render(80) is shown
    second.render(80)
    assert changed == [first]
    demoted = first.render(80)
    assert list(demoted) == ["", "", "", "", "[image: first · PNG 100×100]"]
    assert demoted != shown
    assert not any(isinstance(row, ImageRow) for row in demoted)


def test_never_shown_it_takes_one_row():
    """Words alone need no reserved rows."""
    store = images(limit=1)
    old, new = ImageComponent(png(100, 100), "old", images=store), ImageComponent(png(100, 100), "new", images=store)
    new.render(80)
    assert list(old.render(80)) == ["[image: old · PNG 100×100]"]


@pytest.mark.parametrize("protocol", ["kitty", "iterm2"])
def test_a_thousand_frames_send_the_bytes_once(protocol):
    """§8 "never re-emit full base64 per frame": the rows are the same object, and nothing more waits to be sent."""
    store = images(protocol)
    image = ImageComponent(png(100, 100, b"x" * 10_000), "chart", images=store)
    rows = image.render(80)
    store.take_pending()
    for _ in range(1000):
        assert image.render(80) is rows
        assert store.take_pending() == []


def test_a_new_width_and_a_new_theme_send_no_bytes_again():
    """Another size is another placement of the same image."""
    store = images(placeholders=True)
    image = ImageComponent(png(400, 200), "chart", images=store)
    sent = []
    for width in (80, 20, 80):
        image.render(width)
        image.invalidate()
        sent += commands(store.take_pending())
    assert [part["a"] for part in sent] == ["t", "p", "p", "p"]


def test_it_is_as_large_as_allowed():
    """No wider than the row and its own limit, no higher than its own."""
    image = ImageComponent(png(4000, 1000), "wide", images=images(), max_columns=40, max_rows=4)
    *_, last = image.render(80)
    (placement,) = commands([last.sequence])
    assert (int(placement["c"]), int(placement["r"])) == (32, 4)
    *_, last = image.render(10)
    (placement,) = commands([last.sequence])
    assert (int(placement["c"]), int(placement["r"])) == (10, 2)


def test_taken_down_it_leaves_the_terminal():
    """Core component contract, dispose: its pixels are deleted."""
    store = images()
    image = ImageComponent(png(), "x", images=store)
    image.render(80)
    store.take_pending()
    image.dispose()
    assert [part["a"] for part in commands(store.take_pending())] == ["d"]
