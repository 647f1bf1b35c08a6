"""Colours as numbers: contrast, the nearest a terminal can show, and how SGR says them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.tty.theme._colour import contrast, indexed, luminance, nearest_16, nearest_256, parameters, rgb

colours = st.tuples(*[st.integers(0, 255)] * 3)


def test_contrast_is_that_of_wcag():
    """Black on white is 21, a colour on itself 1, and the order does not matter."""
    assert contrast((0, 0, 0), (255, 255, 255)) == pytest.approx(21)
    assert contrast((10, 20, 30), (10, 20, 30)) == 1
    assert contrast((119, 119, 119), (255, 255, 255)) == pytest.approx(4.48, abs=0.01)
    assert contrast(rgb("#ff0000"), rgb("#000000")) == contrast(rgb("#000000"), rgb("#ff0000"))


@given(st.integers(16, 255))
def test_a_colour_of_the_palette_is_its_own_nearest(number):
    """What the palette has exactly is found exactly (some greys stand twice in it)."""
    assert indexed(nearest_256(indexed(number))) == indexed(number)


@given(colours)
def test_the_nearest_of_256_keeps_light_and_dark(colour):
    """Perceptual nearness: a mapped colour is about as bright, so what could be read still can."""
    assert abs(luminance(indexed(nearest_256(colour))) - luminance(colour)) < 0.2


@pytest.mark.parametrize(
    ("colour", "number"),
    [
        ("#ff0000", 9),
        ("#b3261e", 1),
        ("#00aa00", 2),
        ("#e5c07b", 3),
        ("#fff59d", 11),
        ("#1565c0", 4),
        ("#8e24aa", 5),
        ("#006a75", 6),
        ("#000000", 0),
        ("#666666", 8),
        ("#cccccc", 7),
        ("#ffffff", 15),
    ],
)
def test_of_sixteen_the_hue_decides(colour, number):
    """A pale yellow is a yellow, not a light grey; what has no hue goes by lightness."""
    assert nearest_16(rgb(colour)) == number


@pytest.mark.parametrize(
    ("colour", "depth", "background", "said"),
    [
        ("#0a141e", "true", False, "38;2;10;20;30"),
        ("#0a141e", "true", True, "48;2;10;20;30"),
        ("#ff0000", "256", False, "38;5;196"),
        ("#ff0000", "16", False, "91"),
        ("#ff0000", "16", True, "101"),
        ("#ff0000", "none", False, ""),
        (1, "true", False, "31"),
        (9, "256", False, "91"),
        (12, "16", True, "104"),
        (196, "true", False, "38;5;196"),
        (196, "16", False, "91"),
        (3, "none", True, ""),
    ],
)
def test_sgr_says_a_colour_at_the_depth_there_is(colour, depth, background, said):
    """Exact colours need true colour, the palette 256; sixteen are said in the old short way, none not at all."""
    assert parameters(colour, depth, background=background) == said
