"""What a monkey does: keys, words, pastes whole and broken, bytes no keyboard sends, windows of other sizes.

Letters are few and words are chosen, so that no shell line comes about that does anything.
"""

import random
from collections.abc import Callable

import msgspec

_LETTERS = "abcxyz019 .,-_äß漢字\u0301👍🏽é\u200d👩"
_ARROWS = "ABCDHF"
_CONTROLS = "abefghjklnoprtuvwxy]_"
"""With Ctrl. What leaves (c, d) comes seldom and what suspends (z) means nothing to a program that has no shell."""
_ALTS = "abcdfgjlmotuvy.\r\x7f<>"
_PROMPTS = (
    "go on\r",
    "go\x1b\r",
    "!seq 1 300\r",
    "!echo one; echo two\r",
    "!!sleep 1\r",
    "!printf '\\033]0;title\\007\\033[31mred\\033[2J\\n'\r",
    "$ 1 / 0\r",
    "$ print('x' * 5000)\r",
    "$$ 1 + 1\r",
    "@a\t",
    "/help\r",
    "/model\r",
    "/thinking\r",
    "/tree\r",
    "/resume\r",
    "/jobs\r",
    "/agents\r",
    "/files\r",
    "/theme\r",
    "/todo\r",
    "/copy\r",
    "/fork\r",
    "/compact\r",
    "/settings\r",
    "/nonsense\r",
    "/",
    "y",
    "\x1b",
)
_BROKEN = (
    b"\xf0\x9f",
    b"\xc3",
    b"\xff\xfe",
    b"\x1b[",
    b"\x1b]52;c;",
    b"\x1bP",
    b"\x1b_G",
    b"\x1b[<0;10",
    b"\x1b[<0;10;5M",
    b"\x1b[M !!",
    b"\x1b[I",
    b"\x1b[O",
    b"\x1b[?62;4c",
    b"\x1b]11;rgb:ffff/ffff/ffff\x1b\\",
    b"\x1b[?997;1n",
    b"\x1b[?1u",
    b"\x1b[99999999999999u",
    b"\x1b[97;5:3u",
    b"\x1b[200~",
    b"\x1b[201~",
    b"\x00",
    b"\x9b31m",
    b"\x1b\x1b\x1b",
    b"\x1bOP\x1b[24~\x1b[15;5~",
)
_HOSTILE = (
    "\x1b]52;c;aGFja2Vk\x07",
    "\x1b[201~ and after",
    "\x1b[2J\x1b[H\x1b]0;stolen\x07",
    "a\r\nb\rc\nd",
    "\u202eright to left\u2066",
    "e" + "\u0301" * 500,
    "\x00\x01\x02\x7f\x85\x9b",
    "👩‍👩‍👧‍👦" * 40,
    "\t\t|a|b|\t",
    "/etc/hostname",
    "'no such file.png'",
)


class Deed(msgspec.Struct, frozen=True):
    """Some bytes, or a size (columns, rows). `keys` is what it counts for."""

    sends: bytes = b""
    size: tuple[int, int] | None = None
    keys: int = 1


def deed(chance: random.Random) -> Deed:
    """The next thing."""
    make = chance.choices([make for make, _ in _KINDS], [weight for _, weight in _KINDS])[0]
    return make(chance)


def _typed(chance: random.Random) -> Deed:
    letters = "".join(chance.choices(_LETTERS, k=chance.randint(1, 12)))
    return Deed(letters.encode(), keys=len(letters))


def _moved(chance: random.Random) -> Deed:
    final, modifier = chance.choice(_ARROWS), chance.choice(("", "", "", "1;2", "1;3", "1;5", "1;6"))
    presses = chance.randint(1, 6)
    return Deed(f"\x1b[{modifier}{final}".encode() * presses, keys=presses)


def _edited(chance: random.Random) -> Deed:
    key = chance.choice((b"\x7f", b"\x1b[3~", b"\t", b"\x1b[Z", b"\r", b"\n", b"\x1b[5~", b"\x1b[6~", b"\x1b[2~"))
    return Deed(key)


def _control(chance: random.Random) -> Deed:
    return Deed(bytes([ord(chance.choice(_CONTROLS)) & 31]))


def _alt(chance: random.Random) -> Deed:
    return Deed(b"\x1b" + chance.choice(_ALTS).encode())


def _escape(chance: random.Random) -> Deed:
    return Deed(b"\x1b" * chance.randint(1, 3))


def _left(chance: random.Random) -> Deed:
    return Deed(chance.choice((b"\x03", b"\x03\x03", b"\x04", b"\x1a")))


def _prompt(chance: random.Random) -> Deed:
    words = chance.choice(_PROMPTS)
    return Deed(words.encode(), keys=len(words))


def _pasted(chance: random.Random) -> Deed:
    text = chance.choice(_HOSTILE) * chance.choice((1, 1, 1, 30))
    end = "" if chance.random() < 0.05 else "\x1b[201~"
    return Deed(f"\x1b[200~{text}{end}".encode())


def _huge(chance: random.Random) -> Deed:
    line = "".join(chance.choices(_LETTERS, k=70)) + chance.choice(("\n", "", "\r\n"))
    return Deed(f"\x1b[200~{line * chance.randint(200, 2000)}\x1b[201~".encode())


def _broken(chance: random.Random) -> Deed:
    return Deed(chance.choice(_BROKEN))


def _resized(chance: random.Random) -> Deed:
    if chance.random() < 0.15:
        return Deed(size=(chance.randint(1, 12), chance.randint(1, 6)))
    return Deed(size=(chance.randint(20, 160), chance.randint(6, 50)))


_KINDS: tuple[tuple[Callable[[random.Random], Deed], float], ...] = (
    (_typed, 30),
    (_moved, 14),
    (_edited, 22),
    (_control, 12),
    (_alt, 8),
    (_escape, 6),
    (_prompt, 14),
    (_pasted, 3),
    (_broken, 4),
    (_resized, 3),
    (_left, 0.4),
    (_huge, 0.15),
)
