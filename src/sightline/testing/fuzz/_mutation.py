"""Inputs that are nearly right: samples with something cut, doubled, swapped, or put in."""

from collections.abc import Sequence
from random import Random
from typing import TypeVar

_EDGES = (
    b"\0",
    b"\xff",
    b"\x7f",
    b"\x80",
    b"\r\n",
    b"\n",
    b'"',
    b"\\",
    b"\x1b",
    b"-1",
    b"99999999999999999999",
    b"[",
    b"{",
)
_LONGEST = 64 * 1024

T = TypeVar("T")


def mutated(random: Random, data: bytes, samples: Sequence[bytes] = ()) -> bytes:
    """The data after one to eight changes."""
    for _ in range(random.choice((1, 1, 1, 2, 3, 8))):
        data = _changed(random, data, samples)[:_LONGEST]
    return data


def _changed(random: Random, data: bytes, samples: Sequence[bytes]) -> bytes:
    at = random.randrange(len(data) + 1)
    size = min(random.choice((1, 1, 2, 4, 16, 100)), len(data) - at)
    before, piece, after = data[:at], data[at : at + size], data[at + size :]
    match random.randrange(8):
        case 0:
            return before + after
        case 1:
            return before + piece * random.choice((2, 3, 50)) + after
        case 2 if piece:
            bit = random.randrange(len(piece) * 8)
            flipped = int.from_bytes(piece, "big") ^ (1 << bit)
            return before + flipped.to_bytes(len(piece), "big") + after
        case 3:
            return before + random.randbytes(size) + after
        case 4:
            return before + random.choice(_EDGES) + after
        case 5 if samples:
            other = random.choice(samples)
            cut = random.randrange(len(other) + 1)
            return before + other[cut : cut + random.choice((4, 32, 256))] + after
        case 6:
            return after + before
        case _:
            return data[:at]


def joined(random: Random, pieces: Sequence[str], most: int = 12) -> str:
    """Pieces of a grammar, one after the other."""
    return "".join(random.choices(pieces, k=random.randint(0, most)))


def text_of(random: Random, most: int = 20) -> str:
    """Characters of every kind, half of them with a meaning somewhere."""
    return "".join([_character(random) for _ in range(random.randint(0, most))])


_MEANING = (
    "\0\t\n\r\x1b\x07\x08\x7f\x85\x9b\x9d\x9c \"'`\\$&|;<>(){}[]*?#~!=%/.:-@,^"
    "\u200b\u202e\u2066\u2028\ufeff\ud800\udfff\udcff"
)


def _character(random: Random) -> str:
    match random.randrange(6):
        case 0 | 1:
            return random.choice(_MEANING)
        case 2 | 3 | 4:
            return chr(random.randrange(0x20, 0x7F))
        case _:
            return chr(random.randrange(0x110000))
