"""Themes: every role has a look at every depth, can be read on its background, and can change in place."""

import re
from pathlib import Path

import pytest

from sightline.text import Style
from sightline.tty.theme._colour import contrast, indexed, nearest_256, rgb
from sightline.tty.theme._theme import PLAIN, Theme, on_background, theme_for
from sightline.tty.theme._themes import DARK_COLOURS, LIGHT_COLOURS, LOOKS

ROLES = re.findall(
    r"\w+",
    "text muted dim output gutter accent strong emphasis success warning error info border border_active selection "
    "heading heading_mark code code_block code_border link link_url quote quote_border list_marker rule "
    "table_border table_header strike diff_added diff_removed diff_context diff_added_line diff_removed_line "
    "diff_hunk diff_added_word "
    "diff_removed_word line_number syntax_keyword syntax_string syntax_comment syntax_number syntax_function "
    "syntax_type syntax_name syntax_operator syntax_punctuation syntax_builtin syntax_decorator syntax_error "
    "match hint spinner progress_done progress_left tab tab_active title key image_fallback",
)

THEMES = {"dark": (True, DARK_COLOURS), "light": (False, LIGHT_COLOURS)}
# Backgrounds people have, from the plainest to the hardest to write on.
BACKGROUNDS = {
    "dark": ("#000000", "#1e1e1e", "#282c34"),
    "light": ("#ffffff", "#fafafa", "#fdf6e3", "#eff1f5"),
}
TEXT = {"dark": "#d4d4d4", "light": "#24292f"}
LINES = {"line"}  # drawn, not read
QUIET = {"faint"}


def exact(colour):
    return rgb(colour)


def of_256(colour):
    return indexed(nearest_256(rgb(colour)))


@pytest.mark.parametrize("shown", [exact, of_256], ids=["true colour", "256 colours"])
@pytest.mark.parametrize("name", THEMES)
def test_every_role_can_be_read(name, shown):
    """Text has a contrast of 4.5 at least, quiet text and lines 3, on every background assumed; at 256 colours too."""
    colours = THEMES[name][1]
    for role, look in LOOKS.items():
        grounds = [shown(colours[look.bg].exact)] if look.bg else [rgb(ground) for ground in BACKGROUNDS[name]]
        text = shown(colours[look.fg].exact) if look.fg else rgb(TEXT[name])
        least = 3.0 if look.fg in LINES | QUIET else 4.5
        assert min(contrast(text, ground) for ground in grounds) >= least, role


@pytest.mark.parametrize("shown", [exact, of_256], ids=["true colour", "256 colours"])
@pytest.mark.parametrize("name", THEMES)
def test_code_can_be_read_on_the_tint_of_a_changed_line(name, shown):
    """In every colour of a language, with the sign and the number of the line."""
    colours = THEMES[name][1]
    roles = [role for role in LOOKS if role.startswith("syntax_")]
    for tint, sign in (("diff_added_line", "diff_added"), ("diff_removed_line", "diff_removed")):
        ground = shown(colours[LOOKS[tint].bg].exact)
        for role in (*roles, sign, "line_number"):
            text = shown(colours[LOOKS[role].fg].exact) if LOOKS[role].fg else rgb(TEXT[name])
            assert contrast(text, ground) >= (3.0 if role == "line_number" else 4.5), (tint, role)


def test_one_colour_points_at_what_has_the_focus_or_runs():
    """And at nothing else: words, lists and links of a text have none."""
    accent = LOOKS["accent"].fg
    pointing = {role for role, look in LOOKS.items() if look.fg == accent and not role.startswith("syntax_")}
    assert pointing == {"accent", "border_active", "spinner", "progress_done", "tab_active"}


def test_the_roles_are_those_components_use():
    """The list of roles is closed: a role that is not in it has no look, and none in it is missing."""
    assert list(LOOKS) == ROLES


@pytest.mark.parametrize("dark", [True, False])
@pytest.mark.parametrize("depth", ["none", "16", "256", "true"])
def test_an_opening_is_sgr_of_the_depth_and_nothing_else(dark, depth):
    """One SGR sequence or nothing; without colour only attributes; with sixteen only their short numbers."""
    theme = theme_for(dark=dark, depth=depth)
    allowed = {"none": r"[1-9]", "16": r"[1-9]|3[0-7]|4[0-7]|9[0-7]|10[0-7]", "256": r"[1-9]|[34]8;5;\d+"}
    part = allowed.get(depth, r"[1-9]|[34]8;2;\d+;\d+;\d+")
    for role in ROLES:
        assert re.fullmatch(rf"(\x1b\[({part})(;({part}))*m)?", theme.open(role)), role


def test_without_colour_weight_remains():
    """NO_COLOR: no role has a colour, but bold, dim, underline and reverse stay where they mean something."""
    theme = theme_for(dark=True, depth="none")
    assert theme.open("error") == ""
    assert theme.open("strong") == "\x1b[1m"
    assert theme.open("muted") == "\x1b[2m"
    assert theme.open("link") == "\x1b[4m"
    assert theme.open("selection") == "\x1b[7m"


def test_with_sixteen_colours_nothing_is_written_in_grey():
    """Bright black is the background in popular palettes: muted text is dim there, a selection reversed."""
    for dark in (True, False):
        theme = theme_for(dark=dark, depth="16")
        assert theme.open("muted") == "\x1b[2m"
        assert theme.open("selection") == "\x1b[7m"
        assert not any(re.search(r"\b9[0-7]\b|\b10[0-7]\b", theme.open(role)) for role in ROLES)


def test_an_unknown_background_gets_the_terminals_own_colours():
    """Where nobody knows whether it is light or dark, exact colours could be unreadable."""
    assert theme_for(dark=None, depth="true").open("error") == "\x1b[31m"
    assert theme_for(dark=None, depth="none").open("error") == ""


def test_an_unknown_role_looks_like_text():
    """A role nobody defined costs nothing and breaks nothing."""
    theme = theme_for(dark=True, depth="true")
    assert theme.open("no such role") == ""
    assert theme.style("no such role", "words") == theme.style("text", "words") == "words"


def test_a_run_is_opened_and_closed():
    """Style is open, text, reset; nothing is written around no text."""
    theme = Theme({"error": "\x1b[31m"})
    assert theme.style("error", "bad") == "\x1b[31mbad\x1b[0m"
    assert theme.style("error", "") == ""
    assert PLAIN.style("error", "bad") == "bad"


def test_a_theme_becomes_another_in_place():
    """tui-runtime-internals.md, terminal lifecycle step 6: dark and light are followed live by everyone."""
    held = theme_for(dark=True, depth="true")
    light = theme_for(dark=False, depth="256")
    assert held.open("error") != light.open("error")
    held.become(light)
    assert (held.name, held.dark, held.depth) == ("light", False, "256")
    assert [held.open(role) for role in ROLES] == [light.open(role) for role in ROLES]


def test_a_background_survives_the_styles_on_it():
    """After each reset inside the row the background is opened again; the row still ends in the default style."""
    theme = Theme({"error": "\x1b[31m"})
    row = f"a {theme.style('error', 'b')} c"
    assert on_background(row, "\x1b[44m") == "\x1b[44ma \x1b[31mb\x1b[0m\x1b[44m c\x1b[0m"
    assert on_background(row, "") == row


@pytest.mark.parametrize(
    ("depth", "opening"),
    [
        ("true", "\x1b[1;7;38;2;255;0;0;44m"),
        ("256", "\x1b[1;7;38;5;196;44m"),
        ("16", "\x1b[1;7;91;44m"),
        ("none", "\x1b[1;7m"),
    ],
)
def test_style_that_came_with_a_text_is_shown_in_the_colours_there_are(depth, opening):
    """A command's own colours are brought down to the terminal's, and dropped with NO_COLOR."""
    style = Style(fg="#ff0000", bg=4, bold=True, inverse=True)
    assert theme_for(dark=True, depth=depth).open_style(style) == opening
    assert PLAIN.open_style(style) == ""


def test_the_page_of_rules_names_every_role():
    """docs/internals/terminal.md lists each role, so that nobody has to guess what one is for."""
    page = (Path(__file__).parents[2] / "docs" / "internals" / "terminal.md").read_text()
    assert [role for role in ROLES if f"`{role}`" not in page] == []
