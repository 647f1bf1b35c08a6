"""How a key is written down, and when an event is that key."""

import pytest

from sightline.tty.input._keys import (
    MODIFIERS,
    NAMED_KEYS,
    Key,
    KeySpecError,
    Paste,
    character_key,
    is_release,
    is_repeat,
    matches,
    parse_key,
)


@pytest.mark.parametrize(
    ("spec", "spelling"),
    [
        ("ctrl+c", "ctrl+c"),
        ("shift+ctrl+d", "ctrl+shift+d"),
        ("Meta+Shift+Alt+Ctrl+Up", "ctrl+alt+shift+meta+up"),
        ("control+option+cmd+x", "ctrl+alt+meta+x"),
        ("esc", "escape"),
        ("Return", "enter"),
        ("del", "delete"),
        ("pgup", "pageup"),
        ("ctrl++", "ctrl++"),
        ("+", "+"),
        ("ctrl+plus", "ctrl++"),
        (" ", "space"),
        ("G", "shift+g"),
        ("ctrl+G", "ctrl+g"),
        ("ctrl + k", "ctrl+k"),
        ("é", "é"),
        ("f24", "f24"),
    ],
)
def test_a_spec_has_one_spelling(spec, spelling):
    """Order, case and the usual other names do not matter."""
    assert str(parse_key(spec)) == spelling
    assert str(parse_key(spelling)) == spelling


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("ctrl+entr", "'entr' in 'ctrl+entr' is not a key. Did you mean 'enter'?"),
        ("shfit+a", "'shfit' in 'shfit+a' is not a modifier. Did you mean 'shift'?"),
        ("ctrl+", "'ctrl+' ends without a key"),
        ("ctrl", "'ctrl' holds a modifier but no key"),
        ("", "the key is empty"),
        ("qqqqqqq", "'qqqqqqq' is not a key"),
    ],
)
def test_a_wrong_spec_says_what_is_wrong(spec, said):
    """The message names the part, and what may have been meant."""
    with pytest.raises(KeySpecError) as caught:
        parse_key(spec)
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize("name", sorted(NAMED_KEYS))
def test_every_named_key_is_read_back_with_every_modifier(name):
    """`parse_key` undoes `str`."""
    for bits in range(16):
        key = Key(name, *(bool(bits >> index & 1) for index in range(len(MODIFIERS))))
        assert parse_key(str(key)) == key


def test_a_key_matches_its_spec_whatever_it_types():
    """`text` and repeating do not matter; letting go is no match."""
    assert matches(Key("c", ctrl=True), "ctrl+c")
    assert matches(Key("c", ctrl=True, kind="repeat"), "ctrl+c")
    assert matches(Key("a", shift=True, text="A"), "shift+a")
    assert matches(Key("a", shift=True, text="A"), "A")
    assert not matches(Key("c", ctrl=True, kind="release"), "ctrl+c")
    assert not matches(Key("c", ctrl=True, shift=True), "ctrl+c")
    assert not matches(Paste("c"), "c")


def test_tui_key_release_and_repeat_can_be_told():
    """tui.md, Key release/repeat events."""
    assert is_release(Key("a", kind="release"))
    assert is_repeat(Key("a", kind="repeat"))
    assert not is_release(Key("a"))
    assert not is_repeat(Paste("a"))


def test_a_character_is_the_key_that_types_it():
    """A letter says shift; any other character is named as typed."""
    assert character_key("A") == Key("a", shift=True, text="A")
    assert character_key("?") == Key("?", text="?")
    assert character_key(" ") == Key("space", text=" ")
    assert character_key("Д") == Key("д", shift=True, text="Д")
    assert character_key("İ") == Key("İ", text="İ")
    assert character_key("x", alt=True) == Key("x", alt=True)
