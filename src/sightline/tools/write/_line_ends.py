"""How the lines of a file end, for a text that replaces all of it.

A model reads lines, not how they end: it writes `\\n`, and leaves out what it could not see. Rules, as careful editors
have them:

- A text without a single carriage return ends its lines as most lines of the file do. One that has any means what it
  says, and so does a program (`#!`), whose first line must not end with one.
- A byte order mark stays, and so does the final newline. One that is written stays as well: no editor takes it away.
- What is no text, or cannot be read, has no line ends.
"""

import msgspec

_LOOKED_AT = 8 * 1024 * 1024  # bytes of the file
_MARK = "\ufeff"


class TextToWrite(msgspec.Struct, frozen=True):
    """A text as it is written, and in what it differs from what the model wrote."""

    text: str
    crlf: bool = False
    final_newline: bool = False
    marked: bool = False

    @property
    def details(self) -> dict[str, bool]:
        facts = {"crlf": self.crlf, "final_newline": self.final_newline, "byte_order_mark": self.marked}
        return {name: value for name, value in facts.items() if value}

    @property
    def notes(self) -> list[str]:
        """For the model."""
        written = [
            *(["with CRLF line ends"] if self.crlf else []),
            *(["with a final newline"] if self.final_newline else []),
            *(["with a byte order mark"] if self.marked else []),
        ]
        return [f"[Written {', '.join(written)}, as the file was before. To change that, use a command]"] * bool(
            written
        )


def ended_as(before: bytes | None, content: str) -> TextToWrite:
    """`before`: the file, or as much of it as was read; None: there is none."""
    if not before or not content or "\r" in content or content.startswith("#!"):
        return TextToWrite(content)
    if before.find(b"\0", 0, _LOOKED_AT) >= 0:
        return TextToWrite(content)
    ends = before.count(b"\n", 0, _LOOKED_AT)
    final_newline = len(before) <= _LOOKED_AT and before.endswith(b"\n") and not content.endswith("\n")
    text = content + "\n" * final_newline
    crlf = before.count(b"\r\n", 0, _LOOKED_AT) * 2 > ends and "\n" in text
    if crlf:
        text = text.replace("\n", "\r\n")
    marked = before.startswith(_MARK.encode()) and not text.startswith(_MARK)
    return TextToWrite(_MARK + text if marked else text, crlf, final_newline, marked)
