"""What a command's output keeps, and where its bytes may be cut."""

import itertools
import re

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from sightline.text import after_sequence, clean_output, clean_text, complete_prefix
from tests.text.escape_attacks import ATTACKS

KEPT = re.compile(
    "\x1b(?:\\[(?:[0-9;:]{0,64}m|[012]?[KJ]|[0-9]{0,4}[A-F@PXLMSTd]|[0-9]{0,4}(?:;[0-9]{0,4})?[Hr]|[su]|\\?1049[hl])|[DM])"
)
FORBIDDEN = re.compile("[\x00-\x07\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
STRINGS = re.compile(b"(?:\x1b[]PX^_]|\xc2[\x90\x98\x9d-\x9f])[^\x07\x1b\n\x18\x1a]*|(?:\x1b\\[|\xc2\x9b)[0-?]*")

hostile_text = st.text(
    st.one_of(
        st.sampled_from("\x1b\x1b\x1b\x1b[[[]()P_^X\\;:m0123456789 ABCDEFGKJHLMPSTXdfhlrsu@?>"),
        st.sampled_from("\x07\x9b\x9c\x9d\r\n\t\b\x18\u202e\ud83d\ude00é"),
        st.characters(codec=None),  # type: ignore[arg-type]
    ),
    max_size=60,
)
loose = [
    b"\x1b",
    b"[",
    b"]",
    b"\\",
    b"\x07",
    b"\x18",
    b"\n",
    b"\r",
    b"\b",
    b"31m",
    b"2J",
    b"12A",
    b"7",
    b"8",
    b"?1049h",
    b"2;3H",
    b"0;t",
    b";",
    b" ",
    b"x",
]
whole = [
    b"\x1b[1;31m",
    b"\x1b[K",
    b"\x1b]0;title\x07",
    b"\x1b]8;;http://x\x1b\\",
    b"\x1bP",
    b"\x1b(B",
    b"plain words\n",
]
eight_bit = [b"\xc2", b"\x9b", b"\x9c", b"\xc2\x9b", b"\xc2\x9d", b"\xc2\x9c"]
characters = [b"\xe2\x82\xac", b"\xf0\x9f\x98\x80", b"\xf0\x9f", b"\xe2", b"\xed\xa0", b"\xff"]
fragments = st.sampled_from([*loose, *whole, *eight_bit, *characters])
hostile_bytes = st.one_of(st.binary(max_size=60), st.lists(fragments, max_size=40).map(b"".join))


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("plain", "plain"),
        ("tab\tand\nnewline", "tab\tand\nnewline"),
        ("a\r\nb\rc\bd", "a\r\nb\rc\bd"),
        ("\x1b[31mred\x1b[0m\x1b[m", "\x1b[31mred\x1b[0m\x1b[m"),
        ("\x1b[38:2::1:2:3m\x1b[4:3m", "\x1b[38:2::1:2:3m\x1b[4:3m"),
        ("\x1b[K\x1b[0K\x1b[1K\x1b[2K\x1b[3K", "\x1b[K\x1b[0K\x1b[1K\x1b[2K"),
        ("\x1b[A\x1b[2B\x1b[3C\x1b[4D\x1b[5E\x1b[6F", "\x1b[A\x1b[2B\x1b[3C\x1b[4D\x1b[5E\x1b[6F"),
        ("\x1b[1000000000A", "\x1b[9999A"),
        ("\x1b[2;7A", "\x1b[2A"),
        ("\x1b[000000002A", "\x1b[2A"),
        ("\x1b[Gx\x1b[1Gx\x1b[7Gx\x1b[99999G", "\rx\rx\r\x1b[6Cx\r\x1b[9998C"),
        ("\x9b31mred\x9bK", "\x1b[31mred\x1b[K"),
        ("\x1b[" + "1;" * 100 + "m", "\x1b[" + "1;" * 31 + "1m"),
        ("\x1b[?25lx\x1b[>4;2m\x1b[?9A\x1b[9 A\x1b[3J\x1b[5n\x1b[6n\x1b[c", "x"),
        ("\x1b[J\x1b[0J\x1b[1J\x1b[2J\x1b[002J", "\x1b[J\x1b[0J\x1b[1J\x1b[2J\x1b[2J"),
        ("\x1b[H\x1b[;H\x1b[5H\x1b[5;7H\x1b[5;7f\x1b[5;99999;3H", "\x1b[H\x1b[;H\x1b[5H\x1b[5;7H\x1b[5;7H\x1b[5;9999H"),
        ("\x1b[3d\x1b[3`\x1b[3a\x1b[3e", "\x1b[3d\r\x1b[2C\x1b[3C\x1b[3B"),
        ("\x1b[@\x1b[2P\x1b[3X\x1b[4L\x1b[5M\x1b[55555M", "\x1b[@\x1b[2P\x1b[3X\x1b[4L\x1b[5M\x1b[9999M"),
        ("\x1b7\x1b8\x1b[s\x1b[u\x1b[1;5s\x1b[>1u\x1b[?u", "\x1b[s\x1b[u\x1b[s\x1b[u"),
        ("\x1b[?1049h\x1b[?47h\x1b[?1047l\x1b[?1;1049l\x1b[?2004h", "\x1b[?1049h" * 2 + "\x1b[?1049l" * 2),
        ("\x1b[?" + "47;" * 100 + "1049h", ""),
        ("\x1bMx\x1bDy\x1bEz\x1bc", "\x1bMx\x1bDy\nz\x1b[m\x1b[r\x1b[H\x1b[2J"),
        ("\x1b[1;5r\x1b[r\x1b[;7r\x1b[02;99999r\x1b[?1;5r", "\x1b[1;5r\x1b[r\x1b[;7r\x1b[2;9999r"),
        ("\x1b[S\x1b[3T\x1b[1;2;3;4;5T\x1b[>T", "\x1b[S\x1b[3T"),
        ("\x1b]0;title\x07a\x1b]52;c;eA==\x1b\\b\x1b]8;;http://x\x9cc", "abc"),
        ("\x1b]0;never closed\nnext", "\nnext"),
        ("\x1b]0;given up\x18next", "next"),
        ("\x1b[3\x181m", "1m"),
        ("\x1b(B\x1b=\x1b>\x1bHx", "x"),
        ("nul\x00bell\x07del\x7fc1\x85", "nulbelldelc1"),
        ("rtl \u202eoverride\u202c", "rtl override"),
        ("lone \ud83d pair \ud83d\ude00", "lone \ufffd pair 😀"),
        ("日本語 👨‍👩‍👧‍👦\tשלום", "日本語 👨‍👩‍👧‍👦\tשלום"),
    ],
)
def test_keeps_what_a_screen_is_drawn_with_and_nothing_else(written, kept):
    """Each control that may stay comes out in its one form; everything else is removed whole."""
    assert clean_output(written) == kept
    padding = "x" * 600  # long texts take another way
    assert clean_output(padding + written) == padding + kept


def only_what_may_stay(text):
    return not FORBIDDEN.search(KEPT.sub("", text))


@given(hostile_text)
@settings(max_examples=400)
def test_nothing_but_the_kept_forms_survives(text):
    """Whatever goes in, only known sequences come out, and cleaning what is clean changes nothing."""
    cleaned = clean_output(text)
    assert only_what_may_stay(cleaned)
    assert clean_output(cleaned) == cleaned


@given(st.text(st.sampled_from("ab\x1b[0123;mKHJ?]\x07 \t\n"), max_size=60))
def test_what_is_shown_is_what_the_filter_shows(text):
    """Without its controls, cleaned output is the text the other filter leaves."""
    assert KEPT.sub("", clean_output(text)).replace("\r", "") == clean_text(text)


def test_no_attack_survives():
    """Of every attack only harmless controls are left, whole or cut anywhere, and what follows it is there."""
    for name, data in ATTACKS:
        cleaned = clean_output(data.decode("utf-8", "replace"))
        assert only_what_may_stay(cleaned), name
        assert cleaned.endswith("\nSAFE\n"), name
        for size in (1, 7) if len(data) < 1000 else (4096,):
            pieces = cleaned_in_pieces(data, range(0, len(data), size))
            assert only_what_may_stay(pieces), name
            assert pieces.endswith("\nSAFE\n"), name


def cleaned_in_pieces(data, cuts):
    """As the pipeline does it: what is unfinished waits for the next piece."""
    held, shown = b"", []
    bounds = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    for start, end in itertools.pairwise(bounds):
        held += data[start:end]
        complete = complete_prefix(held)
        assert len(held) - complete <= 64
        shown.append(clean_output(held[:complete].decode("utf-8", "replace")))
        held = held[complete:]
    return "".join(shown) + clean_output(held.decode("utf-8", "replace"))


@given(hostile_bytes, st.lists(st.integers(0, 200), max_size=12))
@example(b"\x1b]0;t\xc2\x9cafter", [6])
@example(b"\x1b]0;t\x1b\\after", [6])
@example(b"\xc2\x9b31mred", [1])
@example(b"\xe2\x82\xac", [1, 2])
@settings(max_examples=600)
def test_cutting_output_never_changes_what_is_kept(data, cuts):
    """The cleaned pieces, joined, equal the cleaned whole, whichever way the bytes arrive."""
    assume(all(len(match) <= 60 for match in STRINGS.findall(data)))
    at_once = clean_output(data.decode("utf-8", "replace"))
    assert cleaned_in_pieces(data, cuts) == at_once
    assert cleaned_in_pieces(data, range(len(data))) == at_once


@pytest.mark.parametrize(
    ("data", "complete"),
    [
        (b"", 0),
        (b"plain", 5),
        (b"red \x1b[31", 4),
        (b"red \x1b[31m", 9),
        (b"a\x1b", 1),
        (b"a\x1b(", 1),
        (b"a\x1b]0;title", 1),
        (b"a\x1b]0;title\n", 11),
        (b"a\x1b]0;title\xc2\x9cb", 13),
        (b"a\xe2\x82", 1),
        (b"a\xe2\x82\xac", 4),
        (b"a\xff", 2),
        (b"a\xc2", 1),
        (b"a\xc2\x9b3", 1),
        (b"a" * 1000 + b"\x1b]0;" + b"t" * 60, 1000),
        (b"a" * 1000 + b"\x1b]0;" + b"t" * 61, 1065),
        (b"a" * 100_000 + b"\x1b[", 100_000),
    ],
)
def test_a_cut_waits_only_for_what_can_still_be_completed(data, complete):
    """The end of a character or sequence is waited for, at most 64 bytes long."""
    assert complete_prefix(data) == complete


@pytest.mark.parametrize(
    "sequence",
    [
        "\x1b[31m",
        "\x1b[38;2;255;100;0m",
        "\x1b[?25h",
        "\x1b[ q",
        "\x1b(B",
        "\x1b]0;a title\x07",
        "\x1b]8;;https://example.com/" + "path/" * 200 + "\x1b\\",
        "\x1bP1;2|words\x9c",
    ],
)
def test_what_is_left_of_a_sequence_is_not_shown(sequence):
    """Wherever a text is cut off before, nothing of a sequence is left, and of the text behind it all but a word."""
    text = "red and blue, here is all of it"
    for cut in range(1, len(sequence) + 1):
        left = clean_text(after_sequence(sequence[cut:] + text))
        assert text.endswith(left)
        assert left.endswith("and blue, here is all of it")


@pytest.mark.parametrize("text", ["", "\x1b[31mred", "éa", "\n", "x" * 5000 + "\x07 bell"])
def test_a_text_that_cannot_be_the_rest_of_a_sequence_stays(text):
    assert after_sequence(text) in (text, text[1:])
