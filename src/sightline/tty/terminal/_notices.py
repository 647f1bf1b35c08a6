"""Titles, notifications and the clipboard as sequences for the terminal. Their text is not ours, so it is cleaned (or
encoded) and bounded."""

from base64 import b64encode

from sightline.text import clean_line
from sightline.tty.terminal._capabilities import Capabilities, Notifications

_LONGEST = 256
_LONGEST_COPY = 74_994  # bytes: encoded they make the 100,000 characters that terminals which bound an OSC 52 take
_SCREEN_TAKES = 240  # GNU screen forwards strings of at most 256 characters
_NO_CLIPBOARD = ("linux", "apple_terminal")  # known to have none, or to allow no access


def title_text(text: str) -> str:
    return clean_line(text)[:_LONGEST]


def notification(way: Notifications, title: str, body: str = "") -> str:
    """A desktop notification in the way the terminal understands; a bell where there is none."""
    title, body = title_text(title), title_text(body)
    # A semicolon ends a field, and `9;4;…` is not a message but a progress bar.
    plain_title, plain_body = title.replace(";", ","), body.replace(";", ",")
    match way:
        case "off":
            return ""
        case "bell":
            return "\x07"
        case "osc99":
            more = f"\x1b]99;i=sightline:p=body;{body}\x1b\\" if body else ""
            return f"\x1b]99;i=sightline:d={0 if body else 1};{title}\x1b\\{more}"
        case "osc777":
            return f"\x1b]777;notify;{plain_title};{plain_body}\x1b\\"
        case "osc9":
            return f"\x1b]9;{plain_title}{': ' if body else ''}{plain_body}\x1b\\"


def clipboard(text: str, capabilities: Capabilities) -> str:
    """The request to put a text on the clipboard; nothing where that cannot be."""
    data = text.encode("utf-8", "replace")
    if not data or len(data) > _LONGEST_COPY or capabilities.terminal in _NO_CLIPBOARD:
        return ""
    request = f"\x1b]52;c;{b64encode(data).decode()}\x07"
    match capabilities.multiplexer:
        case "tmux":
            # One of the two arrives: tmux handles it (set-clipboard), or forwards it (allow-passthrough).
            return request + "\x1bPtmux;" + request.replace("\x1b", "\x1b\x1b") + "\x1b\\"
        case "screen":
            parts = (request[at : at + _SCREEN_TAKES] for at in range(0, len(request), _SCREEN_TAKES))
            return "".join(f"\x1bP{part}\x1b\\" for part in parts)
        case _:
            return request
