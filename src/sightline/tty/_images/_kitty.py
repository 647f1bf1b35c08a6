"""Sequences of the kitty graphics protocol.

- An image is sent once under an id of our own (`a=t`, PNG, base64 in chunks of 4096), then placed by that id as often
  as needed; `q=2` suppresses answers of the terminal, which would arrive as input.
- Placed at the cursor (`a=p`, `C=1`: the cursor stays). The same placement id again moves the graphic: it is never
  there twice.
- Or placed virtually (`U=1`) and drawn by text: each cell is U+10EEEE with two combining marks that number its row and
  column, in a foreground colour that is the image's id. Such a graphic scrolls, is covered and erased like text.
- Deleted by id with its data (`a=d,d=I`).
"""

from binascii import b2a_base64
from functools import lru_cache

CHUNK = 4096
FIRST_ID, LAST_ID = 0x10000, 0xFFFFFF  # what a true-colour foreground can encode, and no colour of the palette does
MOST_CELLS = 297  # rows, and columns, that placeholders can number

_PLACEHOLDER = "\U0010eeee"

# The marks that number rows and columns, in order, as the protocol lists them.
_MARKS = (
    "305 30D-30E 310 312 33D-33F 346 34A-34C 350-352 357 35B 363-36F 483-487 592-595 597-599 59C-5A1 5A8-5A9 5AB-5AC "
    "5AF 5C4 610-617 657-65B 65D-65E 6D6-6DC 6DF-6E2 6E4 6E7-6E8 6EB-6EC 730 732-733 735-736 73A 73D 73F-741 743 745 "
    "747 749-74A 7EB-7F1 7F3 816-819 81B-823 825-827 829-82D 951 953-954 F82-F83 F86-F87 135D-135F 17DD 193A 1A17 "
    "1A75-1A7C 1B6B 1B6D-1B73 1CD0-1CD2 1CDA-1CDB 1CE0 1DC0-1DC1 1DC3-1DC9 1DCB-1DCC 1DD1-1DE6 1DFE 20D0-20D1 "
    "20D4-20D7 20DB-20DC 20E1 20E7 20E9 20F0 2CEF-2CF1 2DE0-2DFF A66F A67C-A67D A6F0-A6F1 A8E0-A8F1 AAB0 AAB2-AAB3 "
    "AAB7-AAB8 AABE-AABF AAC1 FE20-FE26 10A0F 10A38 1D185-1D189 1D1AA-1D1AD 1D242-1D244"
)


def transmit(number: int, png: bytes) -> list[str]:
    """The image's bytes, to be sent before anything that places it."""
    payload = b2a_base64(png, newline=False).decode("ascii")
    chunks = [payload[start : start + CHUNK] for start in range(0, len(payload), CHUNK)] or [""]
    sent = [_command(f"m={int(index < len(chunks) - 1)},q=2", chunk) for index, chunk in enumerate(chunks)]
    sent[0] = _command(f"a=t,f=100,t=d,i={number},q=2,m={int(len(chunks) > 1)}", chunks[0])
    return sent


def place(number: int, columns: int, rows: int) -> str:
    return _command(f"a=p,i={number},p=1,c={columns},r={rows},C=1,q=2")


def place_virtually(number: int, columns: int, rows: int) -> str:
    """Let placeholders draw it, at this size."""
    return _command(f"a=p,U=1,i={number},p=1,c={columns},r={rows},q=2")


def delete(number: int) -> str:
    """Take it off the screen and out of the terminal's memory."""
    return _command(f"a=d,d=I,i={number},q=2")


def placeholders(number: int, columns: int, rows: int) -> list[str]:
    """The rows of text that show a virtually placed image."""
    opening = f"\x1b[38;2;{number >> 16 & 255};{number >> 8 & 255};{number & 255}m"
    marks = _marks()
    return [
        opening + "".join(_PLACEHOLDER + marks[row] + marks[column] for column in range(columns)) + "\x1b[0m"
        for row in range(rows)
    ]


@lru_cache(maxsize=1)
def _marks() -> str:
    points: list[int] = []
    for part in _MARKS.split():
        first, _, last = part.partition("-")
        points += range(int(first, 16), int(last or first, 16) + 1)
    return "".join(map(chr, points))


def _command(control: str, payload: str = "") -> str:
    return f"\x1b_G{control};{payload}\x1b\\" if payload else f"\x1b_G{control}\x1b\\"
