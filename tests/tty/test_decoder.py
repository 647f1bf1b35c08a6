"""Bytes into events: cut anywhere, never raising, never leaking a sequence as text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.tty.input import _paste
from sightline.tty.input._decoder import ESCAPE_MS, Decoder
from sightline.tty.input._keys import Key, Paste, parse_key
from sightline.tty.input._sequences import TerminalReply

LEGACY = {
    b"\r": "enter",
    b"\t": "tab",
    b"\x7f": "backspace",
    b"\x00": "ctrl+space",
    b"\x01": "ctrl+a",
    b"\x03": "ctrl+c",
    b"\x08": "ctrl+h",
    b"\n": "ctrl+j",
    b"\x1a": "ctrl+z",
    b"\x1c": "ctrl+\\",
    b"\x1d": "ctrl+]",
    b"\x1e": "ctrl+^",
    b"\x1f": "ctrl+_",
    b"\x1bb": "alt+b",
    b"\x1bB": "alt+shift+b",
    b"\x1b?": "alt+?",
    b"\x1b\xc3\xa9": "alt+é",
    b"\x1b\r": "alt+enter",
    b"\x1b\x7f": "alt+backspace",
    b"\x1b\x01": "ctrl+alt+a",
    b"\x1b[A": "up",
    b"\x1bOA": "up",
    b"\x1b[1;5A": "ctrl+up",
    b"\x1b[1;2D": "shift+left",
    b"\x1b[1;3C": "alt+right",
    b"\x1b[1;8B": "ctrl+alt+shift+down",
    b"\x1b[1;9H": "meta+home",
    b"\x1b[H": "home",
    b"\x1b[F": "end",
    b"\x1bOH": "home",
    b"\x1b[1~": "home",
    b"\x1b[4~": "end",
    b"\x1b[7~": "home",
    b"\x1b[8~": "end",
    b"\x1b[2~": "insert",
    b"\x1b[3~": "delete",
    b"\x1b[3;5~": "ctrl+delete",
    b"\x1b[5~": "pageup",
    b"\x1b[6~": "pagedown",
    b"\x1b[Z": "shift+tab",
    b"\x1b[1;5Z": "ctrl+shift+tab",
    b"\x1bOP": "f1",
    b"\x1b[11~": "f1",
    b"\x1b[[A": "f1",
    b"\x1b[[E": "f5",
    b"\x1b[1;2P": "shift+f1",
    b"\x1b[1;2R": "shift+f3",
    b"\x1bO5P": "ctrl+f1",
    b"\x1bO1;5P": "ctrl+f1",
    b"\x1b[15~": "f5",
    b"\x1b[17~": "f6",
    b"\x1b[24;2~": "shift+f12",
    b"\x1b[25~": "f13",
    b"\x1b[34~": "f20",
    b"\x1b[45~": "f24",
    b"\x1b[a": "shift+up",
    b"\x1bOd": "ctrl+left",
    b"\x1b[3$": "shift+delete",
    b"\x1b[3^": "ctrl+delete",
    b"\x1b[3@": "ctrl+shift+delete",
    b"\x1b\x1b[A": "alt+up",
    b"\x1b\x1bOA": "alt+up",
    b"\x1bOM": "enter",
    b"\x1b[E": "begin",
    b"\x1b[27;5;13~": "ctrl+enter",
    b"\x1b[27;2;13~": "shift+enter",
    b"\x1b[27;6;65~": "ctrl+shift+a",
    b"\x1b[27;5;33~": "ctrl+!",
    b"\x1b[27;6;33~": "ctrl+!",
    b"\x1b[27;5;9~": "ctrl+tab",
    b"\x1b[27;3;97~": "alt+a",
    b"\x1b[27u": "escape",
    b"\x1b[97;5u": "ctrl+a",
    b"\x1b[97;3u": "alt+a",
    b"\x1b[97:65;6u": "ctrl+shift+a",
    b"\x1b[47:63;4u": "alt+?",
    b"\x1b[1089::99;5u": "ctrl+c",
    b"\x1b[13;2u": "shift+enter",
    b"\x1b[127;5u": "ctrl+backspace",
    b"\x1b[57376u": "f13",
    b"\x1b[57387u": "f24",
    b"\x1b[57414u": "enter",
    b"\x1b[57417;5u": "ctrl+left",
    b"\x1b[57441;2u": "shift+left_shift",
    b"\x1b[97;69u": "ctrl+a",
}
TYPED = {
    b"a": Key("a", text="a"),
    b"A": Key("a", shift=True, text="A"),
    b"?": Key("?", text="?"),
    b" ": Key("space", text=" "),
    "é".encode(): Key("é", text="é"),
    "漢".encode(): Key("漢", text="漢"),
    "👍".encode(): Key("👍", text="👍"),
    b"\x1bOp": Key("0", text="0"),
    b"\x1bOX": Key("=", text="="),
    b"\x1b[97;2;65u": Key("a", shift=True, text="A"),
    b"\x1b[97;65u": Key("a", text="A"),
    b"\x1b[49:33;2;33u": Key("!", text="!"),
    b"\x1b[27;2;65~": Key("a", shift=True, text="A"),
    b"\x1b[32;2u": Key("space", shift=True, text=" "),
    b"\x1b[57400u": Key("1", text="1"),
    b"\x1b[97;1:2u": Key("a", text="a", kind="repeat"),
    b"\x1b[97;1:3u": Key("a", kind="release"),
    b"\x1b[1;5:3A": Key("up", ctrl=True, kind="release"),
    b"\x1b[3;1:2~": Key("delete", kind="repeat"),
}
DROPPED = [
    b"\x1b[I",
    b"\x1b[O",
    b"\x1b[<0;10;20M",
    b"\x1b[<0;10;20m",
    b"\x1b[M !!",
    b"\x1b[32;10;20M",
    b"\x1b[201~",
    b"\x1b[99999~",
    b"\x1b[57350u",
    b"\x1b[1;2z",
    b"\x1b[ q",
    b"\x1b[55296u",
    b"\x1b[99999999999999999999u",
    b"\x1b^private\x1b\\",
    b"\x1bXstart of string\x1b\\",
    b"\xff\xfe",
    b"\xc2\x9b",
    "\u202e".encode(),
]
REPLIES = {
    b"\x1b[?62;4c": TerminalReply("csi", "?62;4c"),
    b"\x1b[?7u": TerminalReply("csi", "?7u"),
    b"\x1b[?2026;2$y": TerminalReply("csi", "?2026;2$y"),
    b"\x1b[?997;1n": TerminalReply("csi", "?997;1n"),
    b"\x1b[6;20;10t": TerminalReply("csi", "6;20;10t"),
    b"\x1b[24;80R": TerminalReply("csi", "24;80R"),
    b"\x1b[>1;10;0c": TerminalReply("csi", ">1;10;0c"),
    b"\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\": TerminalReply("osc", "11;rgb:1e1e/1e1e/2e2e"),
    b"\x1b]11;rgb:ff/ff/ff\x07": TerminalReply("osc", "11;rgb:ff/ff/ff"),
    b"\x1b]99;i=sightline:p=?;p=title,body\x1b\\": TerminalReply("osc", "99;i=sightline:p=?;p=title,body"),
    b"\x1b_Gi=31;OK\x1b\\": TerminalReply("apc", "Gi=31;OK"),
    b"\x1bP1+r544e\x1b\\": TerminalReply("dcs", "1+r544e"),
}
KNOWN = [*LEGACY, *TYPED, *DROPPED, *REPLIES, b"\x1b[200~pasted\x1b[201~"]


def decode(*pieces: bytes) -> list:
    decoder = Decoder()
    return [event for piece in pieces for event in decoder.feed(piece)]


@pytest.mark.parametrize("sent", LEGACY, ids=LEGACY.values())
def test_every_known_key_is_read(sent):
    """Legacy, modifyOtherKeys and kitty forms give the same key."""
    assert decode(sent) == [parse_key(LEGACY[sent])]


@pytest.mark.parametrize("sent", TYPED, ids=str)
def test_a_typed_character_says_what_it_types(sent):
    """And a kitty event says whether the key was pressed, repeats or was let go."""
    assert decode(sent) == [TYPED[sent]]


@pytest.mark.parametrize("sent", DROPPED, ids=str)
def test_what_is_no_key_is_dropped(sent):
    """Mouse, focus, unknown sequences and broken UTF-8 never reach input, and the next key does."""
    assert decode(sent, b"x") == [Key("x", text="x")]


@pytest.mark.parametrize("sent", REPLIES, ids=str)
def test_a_reply_is_no_key(sent):
    """Whole or byte by byte."""
    assert decode(sent) == [REPLIES[sent]]
    assert decode(*(bytes([byte]) for byte in sent)) == [REPLIES[sent]]


def test_lifecycle_a_lone_escape_is_decided_by_the_caller():
    """Terminal lifecycle and stdin normalization: emitted when complete or timeout-flushed."""
    decoder = Decoder()
    assert decoder.feed(b"\x1b") == []
    assert decoder.waiting_ms == ESCAPE_MS
    assert decoder.flush() == [Key("escape")]
    assert decoder.waiting_ms is None
    assert decoder.feed(b"[A") == [Key("[", text="["), Key("a", shift=True, text="A")]


@pytest.mark.parametrize("cut", ["\x1b[", "\x1bO", "\x1b]", "\x1bP", "\x1b_", "\x1b^", "\x1bX"])
def test_an_introducer_alone_was_alt_and_its_key(cut):
    """`ESC [` and nothing more is alt+[."""
    decoder = Decoder()
    assert decoder.feed(cut.encode()) == []
    assert decoder.flush() == [parse_key(f"alt+shift+{cut[1]}" if cut[1].isalpha() else f"alt+{cut[1]}")]


def test_escape_twice_is_escape_twice():
    """A double escape is a gesture, not alt."""
    decoder = Decoder()
    assert decoder.feed(b"\x1b\x1b") + decoder.flush() == [Key("escape"), Key("escape")]
    assert decode(b"\x1b\x1b[?62c") == [Key("escape"), TerminalReply("csi", "?62c")]
    assert decode(b"\x1b\x1bx") == [Key("escape"), Key("x", alt=True)]


@given(st.lists(st.one_of(st.sampled_from(KNOWN), st.binary(max_size=12)), max_size=8), st.data())
@settings(max_examples=400, deadline=None)
def test_lifecycle_cut_anywhere_the_events_are_the_same(parts, data):
    """Fragmented sequences of every kind, characters and pastes."""
    sent = b"".join(parts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(sent)), max_size=12)))
    pieces = [sent[start:end] for start, end in zip([0, *cuts], [*cuts, len(sent)], strict=True)]
    whole, cut = Decoder(), Decoder()
    assert [event for piece in pieces for event in cut.feed(piece)] == whole.feed(sent)
    assert cut.flush() == whole.flush()


@given(st.lists(st.one_of(st.binary(max_size=20), st.sampled_from(KNOWN), st.just(None)), max_size=20), st.booleans())
@settings(max_examples=400, deadline=None)
def test_arbitrary_bytes_never_raise_nor_type_a_control(pieces, expecting):
    """None is a flush. Whatever is typed or pasted holds no control but a paste's tabs and newlines."""
    decoder = Decoder()
    decoder.expecting = expecting
    for piece in pieces:
        for event in decoder.flush() if piece is None else decoder.feed(piece):
            text = event.text.replace("\n", "").replace("\t", "") if isinstance(event, Paste) else ""
            text = event.text if isinstance(event, Key) else text
            assert not any(ord(character) < 0x20 or 0x7F <= ord(character) < 0xA0 for character in text)
    assert len(decoder._held) <= 300


def test_s7_a_new_escape_gives_up_the_half_before_it():
    """§7: a new ESC mid-reassembly abandons the partial so real keys still reach input."""
    assert decode(b"\x1b[?62;", b"\x1b[A") == [Key("up")]
    assert decode(b"\x1b]11;rgb:12", b"\x1b[A") == [Key("up")]
    assert decode(b"\x1b_Gi=3", b"\x1bOP") == [Key("f1")]


def test_s7_a_control_gives_up_the_half_before_it():
    """§7: Ctrl+C is heard in the middle of anything."""
    for half in (b"\x1b[?62;", b"\x1b]11;rgb:12", b"\x1bP1", b"\x1b_Gi", b"\x1bO1", b"\xe2\x82", b"\x1b[M!"):
        assert decode(half, b"\x03") == [Key("c", ctrl=True)]


@pytest.mark.parametrize("half", [b"\x1b[?", b"\x1b]11;rgb:", b"\x1b_G", b"\x1bP"])
def test_s7_a_half_longer_than_256_bytes_is_given_up(half):
    """§7: more than 256 bytes abandons the partial; after a pause whatever comes is keys again."""
    decoder = Decoder()
    assert decoder.feed(half + b"1" * 300) == []
    assert decoder.feed(b"22") == []
    decoder.flush()
    assert decoder.feed(b"x") == [Key("x", text="x")]


def test_s7_a_long_reply_that_ends_is_dropped_whole():
    """A clipboard answer of a megabyte is no input, and is not kept in memory."""
    decoder = Decoder()
    events = decoder.feed(b"\x1b]52;c;" + b"QUJD" * 1000)
    events += decoder.feed(b"QUJD" * 100_000)
    assert len(decoder._held) < 300
    assert events + decoder.feed(b"\x1b\\x") == [Key("x", text="x")]


def test_lifecycle_a_paste_is_one_event_of_raw_text():
    """Detects bracketed paste and emits a paste event; Enter and escapes in it are no keys."""
    assert decode(b"\x1b[200~one\rtwo\r\nthree\x03\x1b\t\x1b[201~y") == [
        Paste("one\ntwo\nthree\t"),
        Key("y", text="y"),
    ]


def test_a_paste_cannot_carry_a_sequence():
    """Colours, titles, clipboard writes and C1 controls are taken out of it."""
    sent = "\x1b[200~a\x1b[31mb\x1b]52;c;eA==\x07c\x9b31md\u202ee\x1b[201~".encode()
    assert decode(sent) == [Paste("abcde")]


def test_an_empty_paste_is_told():
    """Terminals send one when the clipboard holds a picture."""
    assert decode(b"\x1b[200~\x1b[201~") == [Paste("")]


def test_a_paste_that_never_ends_is_handed_over_after_a_silence():
    """And a key pressed then is a key, so that Ctrl+C is never trapped."""
    decoder = Decoder()
    assert decoder.feed(b"\x1b[200~some text") == []
    assert decoder.waiting_ms == _paste.PASTE_MS
    assert decoder.flush() == [Paste("some text")]
    assert decoder.waiting_ms is None
    assert decoder.feed(b"\x03") == [Key("c", ctrl=True)]
    assert decoder.feed(b"x") == [Key("x", text="x")]


def test_a_slow_paste_goes_on_after_a_silence():
    """Text and line ends after a pause still belong to it: a pasted line end must not submit."""
    decoder = Decoder()
    decoder.feed(b"\x1b[200~one")
    assert decoder.flush() == [Paste("one")]
    assert decoder.feed(b"\rtwo") == []
    assert decoder.feed(b"\x1b[201~\r") == [Paste("\ntwo"), Key("enter")]


def test_the_end_of_a_slow_paste_may_itself_be_slow():
    """A half end mark waits; an Escape key does not wait for ever."""
    decoder = Decoder()
    decoder.feed(b"\x1b[200~one\x1b[20")
    assert decoder.flush() == [Paste("one")]
    assert decoder.feed(b"1~x") == [Key("x", text="x")]
    decoder.feed(b"\x1b[200~one")
    decoder.flush()
    assert decoder.feed(b"\x1b") == []
    assert decoder.waiting_ms == ESCAPE_MS
    assert decoder.flush() == [Key("escape")]


@given(st.text("aé漢\r\n👍", max_size=60), st.integers(0, 70))
@settings(max_examples=200, deadline=None)
def test_a_huge_paste_comes_in_parts_and_whole(text, cut):
    """Parts joined are the text: no character and no line end is cut in two."""
    limit, _paste.PASTE_LIMIT = _paste.PASTE_LIMIT, 16
    try:
        sent = b"\x1b[200~" + text.encode() + b"\x1b[201~"
        events = decode(sent[:cut], sent[cut:])
        assert events == decode(sent)
    finally:
        _paste.PASTE_LIMIT = limit
    assert "".join(event.text for event in events) == text.replace("\r\n", "\n").replace("\r", "\n")
    assert all(len(event.text.encode()) <= 16 for event in events)


def test_a_large_paste_is_read_in_linear_time():
    """A megabyte in reads of 4 KiB is no work."""
    decoder = Decoder()
    events = decoder.feed(b"\x1b[200~")
    for _ in range(256):
        events += decoder.feed(b"x" * 4096)
    assert decoder.feed(b"\x1b[201~") == [Paste("x" * 1_048_576)]
