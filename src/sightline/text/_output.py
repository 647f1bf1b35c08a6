"""The filter for a command's output on its way into an event, and where raw output may be cut.

Allowed, besides ordinary characters, tab and newline:

- carriage return and backspace;
- `CSI … m` (style), `CSI n K` and `CSI n J` (erase in the line, in the display), `CSI n A`…`F` (moves relative to the
  cursor), `CSI row;column H` and `CSI n d` (moves to a place);
- `CSI n @`, `P`, `X` (insert, delete, erase characters), `CSI n L`, `M` (insert, delete rows);
- `CSI top;bottom r` (the rows that scroll), `CSI n S`, `T` (scroll them), `ESC D` and `ESC M` (a row down or up, which
  scrolls at their borders);
- `CSI s` and `CSI u` (save and restore the cursor), `CSI ? 1049 h` and `l` (enter and leave the alternate screen).

Other spellings of these become one of them: `CSI n G` a carriage return and a move to the right, `ESC 7` and `ESC 8`
the saved cursor, `ESC E` a newline, `ESC c` (reset) an erased display. All come out in one form: 7-bit, at most 64
characters of style, at most four digits of a number. Whatever else `clean_text` removes is removed here too, so nothing
that is left can set a title, write the clipboard, open a link, ask the terminal a question or switch a mode.

The rest is for `OutputScreen`, which turns it into rows; it never goes to a terminal as it is.

A string sequence (OSC, DCS, APC, PM, SOS) that is never closed ends at the end of its line, or, as in a terminal, at
CAN or SUB. Nothing is remembered between two pieces: `complete_prefix` finds where bytes can be cut so that the cleaned
pieces joined equal the cleaned whole. It never holds back more than 64 bytes, so the tail of a longer string that is
cut is shown as the plain text it then is.
"""

import codecs
import re

_LONG = 512
_LOOK_BACK = 64
_FARTHEST = "9999"
_STYLE_AT_MOST = 64

_PLAIN_CONTROLS = "\x00-\x07\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f"
_BIDI = "\u202a-\u202e\u2066-\u2069"
_LOOSE_ASCII = "".join(chr(point) for point in (*range(0x20), 0x7F) if chr(point) not in "\t\n\r\b\x1b")

_NUMBER = "[0-9]{0,4}"
# What may follow an ESC.
ALLOWED = (
    f"(?:\\[(?:[0-9;:]{{0,{_STYLE_AT_MOST}}}m|[012]?[KJ]|{_NUMBER}[A-F@PXLMSTd]|{_NUMBER}(?:;{_NUMBER})?[Hr]|[su]"
    r"|\?1049[hl])|[DM])"
)
_CSI = "([0-?]*[ -/]{0,8}[@-~]?)"
_STRING = "[^\x07\x1b\x9c\n\x18\x1a]*(?:\x07|\x9c|\x1b\\\\)?"
_ESCAPE = f"(?!{ALLOWED})(?:\\[{_CSI}|[]PX^_]{_STRING}|[ -/]{{0,8}}[0-~]?)"

# A sequence that may stay as it is does not match at all: coloured output, the common case, costs only the search.
_escape = re.compile(f"\x1b{_ESCAPE}")
_any_control = re.compile(
    f"[\x1b{_PLAIN_CONTROLS}{_BIDI}]"
    f"(?:(?<=\x1b){_ESCAPE}"
    f"|(?<=\x9b){_CSI}"
    f"|(?<=[\x9d\x90\x98\x9e\x9f]){_STRING}"
    "|(?<!\x1b))"
)
# What may be the rest of a sequence that began before a text: of a string, up to its end; else of a short one.
_rest_of_string = re.compile("[^\x07\x1b\x9c\n\x18\x1a]{0,4096}(?:\x07|\x9c|\x1b\\\\)")
_rest_of_sequence = re.compile(r"\[?[0-?]{0,64}[ -/]{0,8}[0-~]")
_parameters = re.compile("[0-9;:]*").fullmatch
_alternate_screen = re.compile(r"\?(?:[0-9]{1,4};)*(?:47|1047|1049)(?:;[0-9]{1,4})*([hl])").fullmatch

_SAME_AS = {"`": "G", "a": "C", "e": "B", "f": "H"}
_ESCAPES = {"7": "\x1b[s", "8": "\x1b[u", "E": "\n", "c": "\x1b[m\x1b[r\x1b[H\x1b[2J"}

# The same sequences in bytes. A group takes part only in a sequence that is complete. The byte C2 begins a character
# wherever it stands, so C2 9B is the 8-bit CSI whatever came before it.
_BYTES_CSI = rb"[0-?]*[ -/]{0,8}([@-~])?"
_BYTES_STRING = b"(?:[^\x07\x1b\n\x18\x1a\xc2]|\xc2(?!\x9c))*(\x07|\xc2\x9c|\x1b\\\\)?"
_raw_sequence = re.compile(
    b"\x1b(?:\\[" + _BYTES_CSI + b"|[]PX^_]" + _BYTES_STRING + b"|[ -/]{0,8}([0-~])?)"
    b"|\xc2(?:\x9b" + _BYTES_CSI + b"|[\x9d\x90\x98\x9e\x9f]" + _BYTES_STRING + b")"
)


def clean_output(text: str) -> str:
    """The text with the controls a command's output may have, each in its one form, and no other."""
    if text.isascii():
        if len(text) < _LONG and text.replace("\n", "").isprintable():
            return text
        # One search for each character is much faster than one search for a set of them.
        if not any(map(text.__contains__, _LOOSE_ASCII)):
            return _escape.sub(_in_one_form, text) if "\x1b" in text else text
    elif text.replace("\n", "").isprintable():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return _any_control.sub(_in_one_form, text)


def complete_prefix(data: bytes) -> int:
    """How many bytes, from the first, end neither inside a character nor inside a sequence that may yet be completed.

    The rest is never more than 64 bytes: what has been unfinished for longer is not waited for.
    """
    tail = data[-_LOOK_BACK:]
    if b"\x1b" in tail or b"\xc2" in tail:
        # Sequences are read in order, as `clean_output` reads them; only the last can be unfinished.
        *_, last = None, *_raw_sequence.finditer(tail)
        if last is not None and last.end() == len(tail) and last.lastindex is None:
            return len(data) - len(tail) + last.start()
    if not tail or tail[-1] < 0x80:
        return len(data)
    tail = tail[-4:]
    return len(data) - len(tail) + codecs.utf_8_decode(tail, "replace", False)[1]


def after_sequence(text: str) -> str:
    """A text that was cut off anywhere before, without what may be the rest of a sequence. Of one that is none, this
    takes a word at most, or what stands before an early bell."""
    rest = _rest_of_string.match(text) or _rest_of_sequence.match(text)
    return text[rest.end() :] if rest else text


def _in_one_form(match: "re.Match[str]") -> str:
    body = match[1] or (match[2] if match.re is _any_control else None)
    if not body:
        return _ESCAPES.get(match[0][1:], "") if match[0][0] == "\x1b" else ""
    if _parameters(body, 0, len(body) - 1) is None:
        alternate = _alternate_screen(body[:_LOOK_BACK])
        return f"\x1b[?1049{alternate[1]}" if alternate else ""
    parameters, final = body[:-1], _SAME_AS.get(body[-1], body[-1])
    if final == "m":
        return f"\x1b[{_shortened(parameters)}m"
    if final in "su":
        return "" if parameters else f"\x1b[{final}"
    if ":" in parameters.partition(";")[0]:
        return ""
    first, second, *_ = [*map(_number, parameters.split(";")), ""]
    if final in "KJ":
        return f"\x1b[{first}{final}" if first in ("", "1", "2") else ""
    if final == "G":
        return "\r" if first in ("", "1") else f"\r\x1b[{int(first) - 1}C"
    if final in "Hr":
        return f"\x1b[{first};{second}{final}" if second else f"\x1b[{first}{final}"
    if final == "T" and ";" in parameters:  # about the mouse
        return ""
    return f"\x1b[{first}{final}" if final in "ABCDEF@PXLMSTd" else ""


def _number(parameter: str) -> str:
    number = parameter.partition(":")[0].lstrip("0")
    return number if len(number) <= len(_FARTHEST) else _FARTHEST


def _shortened(style: str) -> str:
    return style if len(style) <= _STYLE_AT_MOST else style[:_STYLE_AT_MOST].rpartition(";")[0]
