"""Random keys, pastes and window sizes while much goes on; more of them with `make stress-console`."""

from pathlib import Path

import pytest

from sightline.testing.monkey import Monkey, Stray, Witness

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("seed", "keys"), [(1, 1000), (200, 1000)])
def test_no_keys_crash_it_or_spoil_the_terminal(tmp_path: Path, seed: int, keys: int) -> None:
    """It lives, or was left with everything off; at rest there is one editor, and it takes a word."""
    monkey = Monkey(tmp_path, seed)
    monkey.play(keys)
    assert monkey.rests


OURS = (
    "\x1b[?2026h\x1b[2J\x1b[H\x1b[3J\x1b[1;31mred\x1b[0m\r\n\x1b[?2026l",
    "\x1b[22;2t\x1b]2;sightline: täglich\x1b\\\x1b[23;2t",
    "\x1b]8;;https://example.com/\x1b\\link\x1b]8;;\x1b\\",
    "\x1b]52;c;YWI=\x07\x1b]9;sightline, done\x1b\\",
    "\x1b[>7u\x1b[<u\x1b[?2004h\x1b[?2004l\x1b[1;2r\x1b[r",
)
STRAYS = (
    "\x1b]0;title\x07",
    "\x1b]2;ti\x1b[31mtle\x1b\\",
    "\x1b]52;c;?\x07",
    "\x1b]8;;javascript:x\x1b\\",
    "\x1b]11;#ff0000\x07",
    "\x1b[6n",
    "\x1b[?1049h",
    "\x1b[2J",
    "\x1bPq~\x1b\\",
    "\x1b_Ga=T;AAAA\x1b\\",
    "\x1bc",
    "\x9b31m",
    "\x00",
    "\x08",
    "\u202e",
)


@pytest.mark.parametrize("written", OURS)
def test_the_witness_knows_what_is_ours(written: str) -> None:
    """Whole, and byte by byte; everything that was on is off."""
    data = written.encode()
    whole, bytewise = Witness(), _feed_bytewise(data)
    whole.feed(data)
    assert whole.left_on == bytewise.left_on == []
    assert (whole.titles, whole.copied, whole.links, whole.text) == (
        bytewise.titles,
        bytewise.copied,
        bytewise.links,
        bytewise.text,
    )


@pytest.mark.parametrize("written", STRAYS)
def test_the_witness_lets_nothing_else_pass(written: str) -> None:
    """Neither at once nor when it comes in pieces."""
    with pytest.raises(Stray):
        Witness().feed(f"{written} and on".encode())
    with pytest.raises(Stray):
        _feed_bytewise(f"{written} and on".encode())


def _feed_bytewise(data: bytes) -> Witness:
    witness = Witness()
    for at in range(len(data)):
        witness.feed(data[at : at + 1])
    return witness


def test_the_witness_sees_what_is_left_on() -> None:
    """A mode, a style, a link, a key protocol, half a sequence."""
    witness = Witness()
    witness.feed(b"\x1b[?25l\x1b[?2026h\x1b[>7u\x1b[1m\x1b]8;;file:///x\x1b\\x\x1b[22;2t\x1b]2;half")
    assert set(witness.left_on) == {
        "cursor hidden",
        "synchronized output",
        "keyboard protocol",
        "style",
        "link",
        "title on the stack",
        "half a sequence",
    }
