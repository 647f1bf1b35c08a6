"""The filter every untrusted string passes before it becomes part of an event.

What it removes, and nothing else:

- whole terminal sequences: CSI, and the strings OSC, DCS, APC, PM and SOS, in their 7-bit (ESC) and 8-bit (C1) forms;
- every remaining C0 and C1 control but tab and newline (a CR LF therefore becomes a newline);
- bidirectional embeddings, overrides and isolates, which can make text read as something it is not;
- a lone surrogate, which no encoder accepts, becomes U+FFFD.

A string sequence (OSC and its kin) that is never closed ends at the end of its line, so that a hostile or broken
producer can hide at most one line, never the rest of a conversation. A cut sequence at the end of a text is dropped.

`clean_text` works on a whole text, `StreamFilter` on a text that arrives in pieces; for every way of cutting a text,
the pieces of the second joined together equal the first.
"""

import re
from collections import deque
from collections.abc import Iterator
from typing import Any

_CONTROL = "\x00-\x08\x0b-\x1f\x7f-\x9f"
_BIDI = "\u202a-\u202e\u2066-\u2069"
_SURROGATE = "\ud800-\udfff"
_LONG = 512
_ASCII_CONTROLS = "".join(chr(point) for point in (*range(0x20), 0x7F) if chr(point) not in "\t\n")

# One search that decides whether a text needs any work at all; most never do.
_suspect = re.compile(f"[{_CONTROL}{_BIDI}{_SURROGATE}]").search

# One control, and what belongs to it. Each sequence may be cut short by the end of the text; a string sequence also by
# a newline (which stays) or by an ESC that does not begin its terminator (and is then read on its own). Parameters are
# bounded so that what a stream must hold back is bounded too. The set comes first because the search for one is quick.
_STRING = "[^\x07\x1b\x9c\n]*(?:\x07|\x9c|\x1b\\\\)?"
_CSI = "[0-?]{0,64}[ -/]{0,8}[@-~]?"
_sequence = re.compile(
    f"[{_CONTROL}{_BIDI}]"
    f"(?:(?<=\x1b)(?:\\[{_CSI}|[]PX^_]{_STRING}|[ -/]{{0,8}}[0-~]?)"
    f"|(?<=\x9b){_CSI}"
    f"|(?<=[\x9d\x90\x98\x9e\x9f]){_STRING}"
    ")?"
)
# A high surrogate directly before a low one is one character that was cut in two by a careless producer.
_pair = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_lone = re.compile(f"[{_SURROGATE}]")

# A sequence that may still grow when more text follows: an unfinished CSI or escape, or an open string.
_unfinished = re.compile(
    "(?:\x1b\\[|\x9b)[0-?]{0,64}[ -/]{0,8}|(?:\x1b[]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c\n]*|\x1b[ -/]{0,8}"
).fullmatch
_line_break = re.compile("[\n\r\x0b\x0c\x85\u2028\u2029]+")
_style = re.compile("(\x1b\\[[0-9;]{0,32}m)")
_escape = re.compile(f"[{_CONTROL}{_BIDI}{_SURROGATE}]")

_HELD_AT_MOST = 4096  # characters of an open string that are held; of a longer one only the fact that it is open


def clean_text(text: str) -> str:
    """The text without anything that could drive a terminal; tabs and newlines stay."""
    return text if _is_plainly_clean(text) else _clean(text)


def without_sequences(text: str) -> str:
    """Like `clean_text`, but what cannot be encoded stays: each character that is left is one of the text.
    `sequences` has the places of the others."""
    return text if _is_plainly_clean(text) else _sequence.sub("", text)


def sequences(text: str) -> Iterator[tuple[int, int]]:
    """Where what `clean_text` removes begins and ends, in order."""
    return (match.span() for match in _sequence.finditer(text))


def clean_line(text: str) -> str:
    """Like `clean_text`, for a field that is one line: line breaks and tabs become single spaces."""
    if text.isprintable():
        return text
    return _clean(_line_break.sub(" ", text)).replace("\t", " ")


def clean_styled(text: str) -> str:
    """Like `clean_text`, but colour and weight (`CSI … m`) stay: for text of ours that quotes text of others."""
    if "\x1b" not in text:
        return clean_text(text)
    pieces = _style.split(text)
    pieces[::2] = map(clean_text, pieces[::2])  # what stands between two styles; a sequence that one cuts ends there
    return "".join(pieces)


def clean_value(value: Any) -> Any:
    """`clean_text` for every string of a decoded JSON value, keys included. A tuple becomes a list.

    Work is on a list instead of the call stack, so nesting is bounded by memory, not by the interpreter.
    """
    if isinstance(value, str):
        return clean_text(value)
    if not isinstance(value, (dict, list, tuple)):
        return value
    root: list[Any] = [value]
    pending: list[Any] = [root]
    while pending:
        container = pending.pop()
        items = list(container.items()) if isinstance(container, dict) else list(enumerate(container))
        if isinstance(container, dict):
            container = _with_clean_keys(container, items)
        for key, item in items:
            if isinstance(item, str):
                container[key] = clean_text(item)
            elif isinstance(item, dict):
                container[key] = dict(item)
                pending.append(container[key])
            elif isinstance(item, (list, tuple)):
                container[key] = list(item)
                pending.append(container[key])
    return root[0]


def _with_clean_keys(container: dict[Any, Any], items: list[tuple[Any, Any]]) -> dict[Any, Any]:
    if any(isinstance(key, str) and _suspect(key) is not None for key, _ in items):
        container.clear()
        for index, (key, item) in enumerate(items):
            key = clean_text(key) if isinstance(key, str) else key
            container[key] = item
            items[index] = (key, item)
    return container


def escape_controls(text: str) -> str:
    """The text with every removed character made visible as an escape instead: for showing raw bytes as evidence."""
    return _escape.sub(_visible, text)


def _visible(match: "re.Match[str]") -> str:
    point = ord(match.group())
    return f"\\x{point:02x}" if point < 0x100 else f"\\u{point:04x}"


def _is_plainly_clean(text: str) -> bool:
    """Whether that is quickly known: a tab or an emoji sequence in a short text needs the search."""
    if len(text) > _LONG and text.isascii():
        # Thirty searches for one character each are ten times as fast as one search for a set of them.
        return not any(map(text.__contains__, _ASCII_CONTROLS))
    return text.isprintable() or text.replace("\n", "").isprintable()


def _clean(text: str) -> str:
    try:
        text.encode()  # a fifth of the cost of a search for what cannot be encoded
    except UnicodeEncodeError:
        return _lone.sub("\ufffd", _sequence.sub("", _pair.sub(_joined, text)))
    return _sequence.sub("", text)


def _joined(match: "re.Match[str]") -> str:
    return match.group().encode("utf-16", "surrogatepass").decode("utf-16")


class StreamFilter:
    """`clean_text` for one text that arrives in pieces: what may be the beginning of a sequence waits for the next."""

    __slots__ = ("_held", "_in_string")

    def __init__(self) -> None:
        self._held = ""
        self._in_string = False

    def feed(self, piece: str) -> str:
        if not self._held and not self._in_string and (piece.isprintable() or _suspect(piece) is None):
            return piece
        text = self._held + piece
        self._held = ""
        if self._in_string:
            text = self._skip_string(text)
        start = unfinished_from(text)
        if start < len(text):
            self._in_string = len(text) - start > _HELD_AT_MOST
            self._held, text = "" if self._in_string else text[start:], text[:start]
        return _clean(text)

    def end(self) -> str:
        """The text is over: what was held back is a cut sequence and is dropped, but half a character is shown."""
        held, self._held, self._in_string = self._held, "", False
        return _clean(held)

    def _skip_string(self, text: str) -> str:
        """Drop what still belongs to an open string; stay in it when its end has not come yet."""
        end = _string_end(text)
        if end is None:
            self._held = "\x1b" if text.endswith("\x1b") else ""
            return ""
        self._in_string = False
        return text[end.end() :]


def unfinished_from(text: str) -> int:
    """Where that begins which more text could complete; the text's length when nothing could.

    Sequences are read in order, as `_clean` reads them: a search from the end would take time square in their number.
    """
    last = next(iter(deque(_sequence.finditer(text, text.rfind("\n") + 1), maxlen=1)), None)
    if last is not None and last.end() == len(text) and _unfinished(last.group()):
        return last.start()
    return len(text) - ("\ud800" <= text[-1:] <= "\udbff")


# The end of an open string: a terminator, or (nothing consumed) a newline or an ESC that starts something else.
_string_end = re.compile("\x07|\x9c|\x1b\\\\|(?=\n)|(?=\x1b[^\\\\])").search
