"""The inline image of iTerm2 (OSC 1337), which several other terminals show too: the file itself, in one sequence."""

from binascii import b2a_base64


def inline(data: bytes, columns: int, rows: int) -> str:
    """Draw the file at the cursor, fitted into so many cells."""
    payload = b2a_base64(data, newline=False).decode("ascii")
    options = f"inline=1;size={len(data)};width={columns};height={rows};preserveAspectRatio=1;doNotMoveCursor=1"
    return f"\x1b]1337;File={options}:{payload}\x07"
