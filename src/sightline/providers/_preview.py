"""The one-line preview of a call's arguments that a marker shows."""

import re

import msgspec

from sightline.providers._source import is_suspect
from sightline.text import clean_text, clean_value, cut_graphemes, first_line

PREVIEW_CAP = 40
# A preview never needs more than the beginning; the margin leaves room for blanks and for what the filter removes.
_ENOUGH = 512

# The first of these fields with something in it is the preview. What is acted on comes before what describes it, and a
# command before the folder it runs in.
_FIELDS = (
    *("file_path", "filePath", "path", "command", "cmd", "script", "notebook_path", "absolute_path"),
    *("pattern", "query", "url", "dir_path", "description", "subject", "title", "task", "message", "prompt"),
    *("skill", "tool"),
)
_COMMANDS = frozenset(("command", "cmd", "script"))
_NUMBERS = frozenset((int, float, bool, type(None)))
_NO_RANK = len(_FIELDS) + 1
_RANKS = {field: rank for rank, field in enumerate(_FIELDS, 1)}
# A search is known by what it looks for, not by where.
_SEARCHES = frozenset(("Grep", "Glob"))
_SEARCH_RANKS = _RANKS | {"pattern": -1, "query": 0}

# A shell, options, and the one with `c` in it, after which a script follows; an option that ends in `o` has a name
# after it. Whatever was read is never read again, so that no command takes longer than it is long.
_OPTION_NAME = r"(?>(?:(?<=o)[ \t]++\w++)?)"
_wrapper = re.compile(
    r"\s*+(?>(?:(?:(?:/usr)?/bin/)?env[ \t]++)?)(?:/(?:[\w.-]+/)*)?(?:ba|z|da|k|a)?sh[ \t]++"
    rf"(?>(?:(?:--\w[\w-]*+|[-+](?!\w*c)\w++{_OPTION_NAME})[ \t]++)*)"
    rf"-(?=\w*c)\w++{_OPTION_NAME}\s++",
    re.ASCII,
)
_USUAL = "/bin/bash -lc "
_WRAPPED_AT_MOST = 4
_word = re.compile(r"'[^']*'|\"[^\"\\]*(?:\\.[^\"\\]*)*\"|\\.|[^\s'\"\\]+", re.DOTALL)
_simple_word = re.compile(r"(?:'([^']+)'|([\w./-]+)|(\"[^\"\\]*(?:\\.[^\"\\]*)*\"))\Z", re.ASCII | re.DOTALL).match
_unescape_double = re.compile(r"\\([$`\"\\\n])")


def preview(args: object, name: str = "") -> str:
    """At most 40 code points of the argument that shows most; empty when none is recognised."""
    if type(args) is not dict:
        args = _decoded(args) if isinstance(args, str) else None
        if not isinstance(args, dict):
            return ""
    ranks = _SEARCH_RANKS if name in _SEARCHES else _RANKS
    best, field = _NO_RANK, ""
    for key in args:
        rank = ranks.get(key, _NO_RANK)
        if rank < best and args[key]:
            best, field = rank, key
    if not field:
        return ""
    value = args[field]
    if field in _COMMANDS:
        shown = preview_command(value)
    elif isinstance(value, str):
        shown = value.strip() if len(value) <= PREVIEW_CAP and value.isprintable() else shorten(value)
    else:
        shown = ""
    # Rarely, the best field holds nothing that can be shown.
    return shown or preview({key: args[key] for key in args if key != field}, name)


def shown_args(args: object, name: str, line: bytes) -> tuple[object, str]:
    """A call's arguments as they may be shown, and their preview: `preview` and `clean_value` in one go.

    Most arguments are a few words on one line each, which can be seen without a look at the whole line they came in.
    """
    if type(args) is not dict:
        return (clean_value(args) if is_suspect(line) else args), preview(args, name)
    ranks = _SEARCH_RANKS if name in _SEARCHES else _RANKS
    best = _NO_RANK
    shown: object = ""
    for key, value in args.items():
        rank = ranks.get(key)
        if not (value.isprintable() if type(value) is str else type(value) in _NUMBERS):
            break
        if rank is None:
            if not key.isprintable():
                break
        elif rank < best and value:
            best, shown = rank, value
    else:
        if type(shown) is str and "sh " not in shown:
            shown = shown.strip()
            if shown or best == _NO_RANK:
                return args, shown if len(shown) <= PREVIEW_CAP else cut_graphemes(shown, PREVIEW_CAP)
        return args, preview(args, name)
    # The preview first: the filter takes away a carriage return, where a line ends for the preview.
    arg = preview(args, name)
    return (clean_value(args) if is_suspect(line) else args), arg


def preview_command(command: object) -> str:
    """The preview of a shell command, given as one string or as a list of words."""
    if isinstance(command, list):
        command = _from_argv(command)
    if not isinstance(command, str):
        return ""
    text: str = command
    if text.startswith(_USUAL) and text.endswith("'", len(_USUAL) + 1):
        script = text[len(_USUAL) + 1 : -1]
        if "'" not in script and text[len(_USUAL)] == "'":  # the most frequent form, for a quarter of the cost
            text = script
    if "sh " in text:
        text = unwrap_shell(text)
    elif len(text) <= PREVIEW_CAP and text.isprintable():
        return text.strip()
    elif "sh\t" in text:
        text = unwrap_shell(text)
    return shorten(text)


def shorten(text: str) -> str:
    """The first line of a text, short enough for a marker."""
    head = text[:_ENOUGH] if len(text) > _ENOUGH else text
    if head.isprintable():
        line = head.strip()
    else:
        line = first_line(head)
        if not line.isprintable():
            # A line of nothing but control sequences shows nothing: use what follows it.
            line = (clean_text(line).strip() or first_line(clean_text(head))).replace("\t", " ")
    return line if len(line) <= PREVIEW_CAP else cut_graphemes(line, PREVIEW_CAP)


def unwrap_shell(command: str) -> str:
    """The script inside `/bin/bash -lc '…'`, however often wrapped; any other command as it is."""
    for _ in range(_WRAPPED_AT_MOST):
        if command.startswith(_USUAL):
            start = len(_USUAL)
        elif (match := _wrapper.match(command)) is not None:
            start = match.end()
        else:
            break
        script = _only_word(command, start)
        if script is None:
            break
        command = script
    return command


def _only_word(command: str, start: int) -> str | None:
    """The shell word at `start` with its quotes resolved, or None when it is not the last word.

    Of a long word only the beginning, a whole line at least: no more of it is shown.
    """
    simple = _simple_word(command, start)
    if simple is not None:
        single, bare, double = simple.groups()
        return single or bare or _unquoted(double)
    parts: list[str] = []
    length = 0
    position = start
    enough = False
    while not enough and (match := _word.match(command, position)) is not None:
        piece = match.group()
        if piece[0] == "'":
            piece = piece[1:-1]
        elif piece[0] == '"':
            piece = _unquoted(piece)
        elif piece[0] == "\\":
            piece = piece[1:]
        parts.append(piece)
        length += len(piece)
        enough = length > _ENOUGH or "\n" in piece.strip()
        position = match.end()
    if not parts or (not enough and command[position:].strip()):
        return None
    return "".join(parts)


def _unquoted(word: str) -> str:
    """What stands between double quotes."""
    inner = word[1:-1]
    return _unescape_double.sub(r"\1", inner) if "\\" in inner else inner


def _from_argv(argv: list[object]) -> str:
    """A command given as a list of words: its script when a shell is to run one, else the words."""
    words = [word for word in argv if isinstance(word, str)]
    if len(words) != len(argv):
        return ""
    if len(words) > 2 and _wrapper.fullmatch(" ".join(words[:-1]) + " "):
        return words[-1]
    return " ".join(words)


def _decoded(args: str) -> object:
    """Arguments that arrived as a JSON text; None when they are none."""
    try:
        return msgspec.json.decode(args.encode("utf-8", "replace"))
    except (msgspec.DecodeError, RecursionError):
        return None
