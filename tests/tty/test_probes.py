"""Questions and answers: in order, split anywhere, late or never, and never input."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.tty.input._decoder import Decoder
from sightline.tty.input._keys import Key, parse_key
from sightline.tty.input._listener import InputReader
from sightline.tty.input._sequences import TerminalReply
from sightline.tty.terminal._capabilities import Capabilities, detect
from sightline.tty.terminal._probes import Probes
from tests.tty.support import FakeClock

KINDS = (
    "keyboard",
    "background",
    "synchronized_output",
    "resize",
    "appearance",
    "notifications",
    "graphics",
    "cell_size",
)
REPLIES = {
    "keyboard": b"\x1b[?7u",
    "background": b"\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\",
    "background, BEL": b"\x1b]11;rgb:1e/1e/2e\x07",
    "synchronized_output": b"\x1b[?2026;2$y",
    "resize": b"\x1b[?2048;1$y",
    "appearance": b"\x1b[?2031;2$y",
    "changed appearance": b"\x1b[?997;1n",
    "notifications": b"\x1b]99;i=sightline:p=?;p=title,body:a=focus\x1b\\",
    "graphics": b"\x1b_Gi=31;OK\x1b\\",
    "cell_size": b"\x1b[6;20;10t",
    "changed size": b"\x1b[48;30;100;600;1000t",
    "sentinel": b"\x1b[?62;4;22c",
}
DA1 = b"\x1b[?62;22c"
KEYS = {b"\x1b[A": "up", b"\x1bOP": "f1", b"\x03": "ctrl+c", b"\r": "enter", b"\x1b[97;5u": "ctrl+a"}


def asked(environment=None) -> Probes:
    probes = Probes()
    probes.start(detect({"TERM": "xterm-256color"} if environment is None else environment))
    return probes


def tell(probes: Probes, *sent: bytes) -> None:
    decoder = Decoder()
    for event in decoder.feed(b"".join(sent)):
        assert isinstance(event, TerminalReply)
        probes.take(event)


def test_s7_every_question_is_closed_by_a_sentinel_of_its_own():
    """§7: queries fused with a bare DA1, and a typed FIFO of whose it is."""
    probes = Probes()
    sent = probes.start(Capabilities())
    assert sent.count("\x1b[c") == probes.outstanding == len(KINDS)
    for index, kind in enumerate(KINDS, 1):
        tell(probes, DA1)
        assert probes.answers.settled == set(KINDS[:index]), f"a sentinel settles {kind} and no other"
    assert probes.outstanding == 0


def test_s7_a_keyboard_sentinel_is_not_taken_for_another():
    """§7: only the keyboard question is known to be unanswered after the first DA1."""
    probes = asked()
    tell(probes, DA1)
    assert probes.answers.keyboard is None
    assert probes.answers.settled == {"keyboard"}
    tell(probes, REPLIES["background"], DA1)
    assert probes.answers.background == (30, 30, 46)
    assert probes.answers.settled == {"keyboard", "background"}


def test_s7_everything_a_modern_terminal_says_is_understood():
    """§7: and DECRQM reports 2026, 2048 and 2031 gate features."""
    probes = asked()
    tell(probes, *(REPLIES[kind] + DA1 for kind in KINDS))
    answers = probes.answers
    assert answers.settled == set(KINDS)
    assert (answers.keyboard, answers.background, answers.cell_size) == (7, (30, 30, 46), (10, 20))
    assert answers.notifications
    assert answers.graphics
    assert [answers.supports(mode) for mode in (2026, 2048, 2031, 9999)] == [True, True, True, False]
    assert answers.attributes == (62, 22)
    tell(probes, REPLIES["sentinel"])
    assert answers.settled == probes.answers.settled


def test_s7_nothing_is_answered_after_the_deadline_until_it_is():
    """A late answer counts, and the questions are not open any more: they may be asked again."""
    probes = asked()
    probes.expire()
    assert probes.answers.settled == set(KINDS)
    assert probes.answers.keyboard is None
    tell(probes, REPLIES["keyboard"], DA1)
    assert probes.answers.keyboard == 7
    assert probes.outstanding == 0


def test_s7_a_late_sentinel_closes_its_own_question_not_a_newer_one():
    """They come in the order they were sent, so those that are late come first; a lost one blocks nothing."""
    probes = asked({"TERM_PROGRAM": "Apple_Terminal"})
    probes.expire()
    probes.ask("background")
    tell(probes, DA1)
    assert probes.outstanding == 1
    tell(probes, REPLIES["background"], DA1)
    assert probes.outstanding == 0
    assert probes.answers.background == (30, 30, 46)


class _Loop(FakeClock):
    """A loop with nothing to read."""

    def add_reader(self, fd, callback):
        """Nothing comes."""


def test_s7_the_deadline_of_an_earlier_question_is_not_that_of_a_later_one():
    """And a question whose sentinel got lost can be asked again."""
    loop, sent, expired = _Loop(), [], []
    tell_nobody = {"on_input": str, "on_hangup": str}
    listener = InputReader(loop, 0, send=sent.append, on_answers=lambda: expired.append(loop.now), **tell_nobody)
    listener.start(detect({"TERM_PROGRAM": "Apple_Terminal"}), silent=False)
    loop.advance(0.06)
    listener.feed(REPLIES["background"] + DA1)
    listener.ask_background()
    expired.clear()
    loop.advance(0.06)
    assert expired == []
    loop.advance(0.06)
    assert len(expired) == 1
    listener.ask_background()
    assert len(sent) == 3


def test_what_could_show_is_not_asked():
    """tmux takes APC for a title; the Linux console and Apple's terminal print what they do not know."""
    in_tmux = Probes()
    sent = in_tmux.start(detect({"TERM": "tmux-256color", "TMUX": "x"}))
    assert "\x1b_" not in sent
    assert "]99" not in sent
    assert "keyboard" not in in_tmux.answers.settled
    assert asked({"TERM": "linux"}).outstanding == 0
    assert Probes().start(detect({"TERM_PROGRAM": "Apple_Terminal"})) == "\x1b]11;?\x1b\\\x1b[c"


def test_mode_2031_is_followed_live():
    """Dark and light are told at any time, by CSI ? 997."""
    probes = asked()
    tell(probes, b"\x1b[?997;1n")
    assert probes.answers.dark is True
    assert probes.take(TerminalReply("csi", "?997;2n"))
    assert probes.answers.dark is False
    assert not probes.take(TerminalReply("csi", "?997;2n"))


@pytest.mark.parametrize(
    ("body", "colour"),
    [
        ("11;rgb:ffff/0000/8080", (255, 0, 128)),
        ("11;rgb:ff/00/80", (255, 0, 128)),
        ("11;rgb:f/0/8", (255, 0, 136)),
        ("11;rgba:ffff/0000/8080/ffff", (255, 0, 128)),
        ("11;#ff0080", (255, 0, 128)),
        ("11;rgb:ff/00", None),
        ("11;rgb://", None),
        ("11;rgb:fffff/0/0", None),
        ("11;?", None),
        ("10;rgb:ff/ff/ff", None),
    ],
)
def test_background_colours_in_every_form(body, colour):
    """XParseColor's forms; anything else is no answer."""
    probes = asked()
    probes.take(TerminalReply("osc", body))
    assert probes.answers.background == colour


@given(st.sampled_from(["csi", "osc", "apc", "dcs"]), st.text(max_size=40))
@settings(max_examples=200, deadline=None)
def test_no_reply_raises(kind, body):
    """Whatever a terminal says."""
    asked().take(TerminalReply(kind, body))


@pytest.mark.parametrize("name", REPLIES)
@pytest.mark.parametrize("expecting", [True, False])
def test_s7_reply_fed_byte_by_byte_leaks_nothing_to_input(name, expecting):
    """§7: survives a split reply, whether it is awaited or late."""
    decoder = Decoder()
    decoder.expecting = expecting
    events = [event for byte in REPLIES[name] for event in decoder.feed(bytes([byte]))]
    assert [type(event) for event in events] == [TerminalReply]
    assert decoder.flush() == []


@pytest.mark.parametrize("name", REPLIES)
def test_s7_an_awaited_reply_may_pause_at_every_byte(name):
    """§7: partials are rejoined across flushes while a sentinel is outstanding."""
    decoder = Decoder()
    decoder.expecting = True
    events = []
    for byte in REPLIES[name]:
        events += decoder.feed(bytes([byte])) + decoder.flush()
    assert [type(event) for event in events] == [TerminalReply]


@pytest.mark.parametrize("name", REPLIES)
def test_s7_a_late_reply_may_pause_once_it_can_be_told_from_a_key(name):
    """§7: after the deadline a pause behind `ESC [` is alt+[, but three bytes are a reply, pause or not."""
    reply = REPLIES[name]
    for cut in range(3, len(reply)):
        decoder = Decoder()
        if reply[:cut].endswith(b"\x1b"):
            continue  # between the two bytes of the terminator: an Escape key must not wait for the next one
        events = decoder.feed(reply[:cut]) + decoder.flush() + decoder.feed(reply[cut:])
        assert [type(event) for event in events] == [TerminalReply], cut


@pytest.mark.parametrize("paused", [True, False], ids=["after a pause", "at once"])
@pytest.mark.parametrize("expecting", [True, False], ids=["awaited", "late"])
@pytest.mark.parametrize("sent", KEYS, ids=KEYS.values())
@pytest.mark.parametrize("name", REPLIES)
def test_s7_after_every_prefix_of_a_reply_real_keys_are_delivered(name, sent, expecting, paused):
    """§7: a new ESC abandons the partial so real keys still reach input; so does a control."""
    for cut in range(1, len(REPLIES[name])):
        decoder = Decoder()
        decoder.expecting = expecting
        prefix = REPLIES[name][:cut]
        events = decoder.feed(prefix) + (decoder.flush() if paused else [])
        events += decoder.feed(sent) + decoder.feed(b"x")
        keys = [event for event in events if isinstance(event, Key)]
        assert keys[-1] == Key("x", text="x")
        # Directly behind an ESC a key is alt and that key: no reader can know better.
        wanted = parse_key(KEYS[sent])
        alternatives = (wanted, parse_key(f"alt+{KEYS[sent]}") if prefix.endswith(b"\x1b") and not paused else wanted)
        assert keys[-2] in alternatives, (prefix, events)
        assert all(not key.text for key in keys[:-1]), "nothing of the reply is typed"


@pytest.mark.parametrize("name", ["keyboard", "background", "synchronized_output", "appearance", "sentinel"])
def test_s7_a_letter_typed_after_a_reply_that_broke_off_is_delivered(name):
    """After a pause, what cannot belong to the reply does not disappear in it."""
    for cut in range(3, len(REPLIES[name])):
        decoder = Decoder()
        decoder.expecting = True
        if REPLIES[name][:cut].endswith(b"\x1b"):
            continue
        assert decoder.feed(REPLIES[name][:cut]) + decoder.flush() == []
        assert decoder.feed(b"hi") == [Key("h", text="h"), Key("i", text="i")]
