"""A slash command, read from the bytes of its file: front matter and a text, in the format of Claude Code.

Rules:

- Nothing of the file widens what the agent may do. Fields that mean nothing here are ignored, and listed as that.
- A file that cannot be a command has one line that names the reason. Nothing is raised, whatever the bytes are.
- Its text is cleaned: nothing of it drives a terminal.
"""

import re
from typing import Literal

import msgspec

from sightline.actors import encodable
from sightline.settings import FoundFile, NotFrontMatter, Page, page_in
from sightline.text import clean_line, clean_text, cut_graphemes, first_line

LARGEST = 64 * 1024  # bytes of a file
LONGEST_NAME = 100
_LONGEST_LINE = 300  # characters of a description, or of a hint
_MOST_IGNORED = 20
_WORDS = ("description", "argument-hint")
_FIELDS = (*_WORDS, "model")
_OWN_MODEL = ("", "inherit", "default")
_SCRIPTED = "scripted:"

CommandState = Literal["usable", "untrusted", "shadowed", "broken"]

_is_name = re.compile(r"[A-Za-z0-9][\w.-]*(?::[A-Za-z0-9][\w.-]*)*", re.ASCII).fullmatch
_is_model = re.compile(r"[\w.:/@+ -]{1,200}", re.ASCII).fullmatch
_heading = re.compile(r"#+\s*")


class CommandFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file, and what it means."""

    name: str  # without the slash; a file in a subfolder is `folder:name`
    description: str = ""
    arguments: str = ""  # what it takes, as a hint
    model: str = ""  # for its one run; empty: that of the session
    source: Literal["project", "user"]
    file: str
    state: CommandState = "usable"
    why: str = ""  # it cannot be used
    ignored: tuple[str, ...] = ()  # fields that mean nothing here
    text: str = ""


class _NotACommand(Exception):
    """Why a file is none, in one line."""


def read_command(found: FoundFile) -> CommandFile:
    name = _name(found)
    command = CommandFile(name=_shown(name), source=found.source, file=encodable(str(found.path)))
    try:
        if found.problem:
            raise _NotACommand(found.problem)
        if len(name) > LONGEST_NAME or not _is_name(name):
            raise _NotACommand(f"its name must have letters, digits, . _ and - only, at most {LONGEST_NAME}")
        page = page_in(found.data, LARGEST, words=_WORDS, optional=True)
        return msgspec.structs.replace(command, **_meaning(page))
    except (_NotACommand, NotFrontMatter) as why:
        return msgspec.structs.replace(command, state="broken", why=clean_line(str(why)))


def unread_command(found: FoundFile) -> CommandFile:
    """One in a folder that is not trusted."""
    file = encodable(str(found.path))
    name = _shown(_name(found))
    return CommandFile(name=name, source=found.source, file=file, state="untrusted", why=found.problem)


def _name(found: FoundFile) -> str:
    return ":".join(found.path.relative_to(found.folder).with_suffix("").parts)


def _shown(name: str) -> str:
    return cut_graphemes(clean_line(encodable(name)), LONGEST_NAME)


def _meaning(page: Page) -> dict[str, object]:
    text = clean_text(encodable(page.body)).strip()
    if not text:
        raise _NotACommand("it has no text to send")
    model = _field(page, "model")
    if model and not _is_model(model):
        raise _NotACommand("its model is not the name of a model")
    if model.lower().startswith(_SCRIPTED):  # it would answer from a file of the project
        raise _NotACommand("a scripted model is chosen for a session, not for a command")
    return {
        "description": _field(page, "description") or _line(_heading.sub("", first_line(text), count=1)),
        "arguments": _field(page, "argument-hint"),
        "model": "" if model in _OWN_MODEL else model,
        "ignored": tuple(_line(name) for name in page.fields if name not in _FIELDS)[:_MOST_IGNORED],
        "text": text,
    }


def _field(page: Page, name: str) -> str:
    value = page.fields.get(name)
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    if value is not None and not isinstance(value, str):
        raise _NotACommand(f"{name} must be text")
    return _line(value or "")


def _line(text: str) -> str:
    return cut_graphemes(" ".join(clean_line(encodable(text)).split()), _LONGEST_LINE)
