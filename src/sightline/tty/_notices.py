"""Titles and notifications as text for the terminal. What they say is not ours, so it is cleaned and bounded."""

from sightline.text import clean_line
from sightline.tty._capabilities import Notifications

_LONGEST = 256


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
