"""The language of permission rules: `class` or `class(pattern)`. Nothing here touches the disk.

Rules:

- The classes are `read`, `write`, `exec` and `network`. A class alone means everything of it.
- A path pattern is a glob: `*` and `?` within a name, `**` across folders, `\\` before a character that means itself.
  `DIR/**` and `DIR/` are the folder and all below it. A relative one is below the workspace, `~` is the home folder.
- A command pattern is a command line. `*` as a word is any number of words, inside a word any characters of it; in
  quotes it is a star. It allows a command of the same words and the same operators, and besides that only the very
  text of the pattern. A compound is allowed when each of its commands is.
- A pattern that denies sees more than one that allows: behind `;`, in quotes, substitutions and as arguments of other
  programs, with options in between and with more words behind it.
- A host pattern is a host name in which `*` is anything, dots included; without a port it means every port. An
  address is the same however it is written. What is no host fits no pattern that allows and every one that denies.
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Literal

import msgspec

from sightline.exceptions import UserMistake
from sightline.settings._command_line import CommandLine, Word, quoted, suspect_words, understand

Access = Literal["read", "write", "exec", "network"]
ACCESSES: tuple[Access, ...] = ("read", "write", "exec", "network")

_rule = re.compile(r"\s*([A-Za-z_]+)\s*(?:\((.*)\))?\s*", re.DOTALL).fullmatch
_host = re.compile(r"(\[[0-9a-f:.*]+\]|[a-z0-9._*-]+|[0-9a-f:.*]*:[0-9a-f:.*]*:[0-9a-f:.*]*)(?::([0-9]+))?").fullmatch
_could_be_a_number = re.compile(r"[0-9a-fx.:]+").fullmatch
_LONGEST_SUGGESTION = 2000
_OPTIONS_BETWEEN = 32

Matcher = Callable[[str], "re.Match[str] | None"]

_half = re.compile("[\ud800-\udbff\udc00-\udc7f\udd00-\udfff]").search  # the others stand for bytes of a name


class RuleMistake(UserMistake):
    """A permission rule that cannot be read."""


class Rule(msgspec.Struct, frozen=True):
    """An empty pattern is everything of the class."""

    access: Access
    pattern: str = ""

    def __str__(self) -> str:
        return f"{self.access}({self.pattern})" if self.pattern else self.access


@lru_cache(256)
def parse_rule(text: str, *, denies: bool = False) -> Rule:
    if "\0" in text or (not text.isascii() and _half(text) is not None):
        raise RuleMistake(f"not a rule: {text}", "no path, command or host has a NUL or half a character in it")
    match = _rule(text)
    if match is None:
        raise RuleMistake(f"not a rule: {text}", "write class or class(pattern), such as exec(git push *)")
    name, pattern = match[1], match[2]
    access = next((known for known in ACCESSES if known == name), None)
    if access is None:
        raise RuleMistake(f"not a rule: {text}", f"{name} is none of {', '.join(ACCESSES)}")
    if pattern is None:
        return Rule(access)
    if access not in ("read", "write"):  # a file's name may begin and end with spaces
        pattern = pattern.strip(" \t")
    if not pattern.strip():
        raise RuleMistake(f"empty pattern: {text}", f"write {access} alone to mean everything of it")
    _check_pattern(access, pattern, text, denies=denies)
    return Rule(access, pattern)


def _check_pattern(access: Access, pattern: str, text: str, *, denies: bool) -> None:
    if access == "exec":
        if "*" in pattern.split()[0] and not denies:
            raise RuleMistake(f"no program named: {text}", "begin with the program; exec alone allows every command")
    elif access == "network":
        if _host(pattern.lower().removesuffix(".")) is None:
            raise RuleMistake(f"not a host: {text}", "write a host name, such as network(docs.python.org)")
    elif ".." in pattern.split("/"):
        raise RuleMistake(f"`..` in a path: {text}", "write the folder itself")


def matches_path(rule: Rule, path: str, *, workspace: str, home: str, denies: bool = False) -> bool:
    """Whether a rule is about this absolute path. Workspace and home are real paths."""
    if not rule.pattern:
        return True
    return _path_expression(rule.pattern, workspace, home, denies)(path.rstrip("/")) is not None


@lru_cache(256)
def _path_expression(pattern: str, workspace: str, home: str, denies: bool) -> Matcher:
    """Denying does not look at case: on some disks a file has many spellings."""
    base, names = path_parts(pattern, workspace, home)
    expression = re.escape(base.rstrip("/")) + "".join(map(_name_expression, names))
    return re.compile(expression, re.DOTALL | (re.IGNORECASE if denies else 0)).fullmatch


def path_parts(pattern: str, workspace: str, home: str) -> tuple[str, list[str]]:
    base = ""
    if pattern == "~" or pattern.startswith("~/"):
        base, pattern = home, pattern[1:]
    elif not pattern.startswith("/"):
        base = workspace
    names = [name for name in pattern.split("/") if name not in ("", ".")]
    if pattern.endswith("/") and names[-1:] != ["**"]:
        names.append("**")
    return base, names


def really(rule: Rule, *, workspace: str, home: str, resolve: Callable[[str], str]) -> Rule:
    """A rule about a path that leads through links, about where they lead to. `resolve` follows them."""
    base, names = path_parts(rule.pattern, workspace, home)
    plain = next((count for count, name in enumerate(names) if set(name) & set("*?\\")), len(names))
    written = "/".join([base.rstrip("/"), *names[:plain]])
    real = resolve(written)
    return rule if real == written else Rule(rule.access, "/".join([_itself(real), *names[plain:]]))


def _itself(path: str) -> str:
    """The pattern of this path alone."""
    return re.sub(r"[\\*?]", r"\\\g<0>", path)


def _name_expression(name: str) -> str:
    if name == "**":
        return "(?:/[^/]+)*"
    pieces = re.split(r"(\\.|\*+|\?)", name, flags=re.DOTALL)
    return "/" + "".join(map(_piece_expression, pieces))


def _piece_expression(piece: str) -> str:
    if piece.startswith("*"):
        return "[^/]*"
    if piece == "?":
        return "[^/]"
    return re.escape(piece[1:] if len(piece) == 2 and piece[0] == "\\" else piece)


def matches_host(rule: Rule, host: str, *, denies: bool = False) -> bool:
    if not rule.pattern:
        return True
    wanted, asked = _host(rule.pattern.lower().removesuffix(".")), _host(_plain_host(host))
    if wanted is None or asked is None or "*" in asked[0]:
        return denies
    if wanted[2] is not None and wanted[2] != asked[2]:
        return False
    expression = ".*".join(map(re.escape, _address(wanted[1]).split("*")))
    return re.fullmatch(expression, _address(asked[1])) is not None


def _address(host: str) -> str:
    """A name as it is; a number in the form there is one of: `127.1`, `0x7f000001` and `::ffff:7f00:1` are the same."""
    host = host.strip("[]").rstrip(".")
    if not _could_be_a_number(host):
        return host
    import ipaddress
    import socket

    try:
        address = ipaddress.IPv6Address(host) if ":" in host else ipaddress.IPv4Address(socket.inet_aton(host))
    except (ValueError, OSError):
        return host
    return str(getattr(address, "ipv4_mapped", None) or address)


def _plain_host(host: str) -> str:
    """As name servers know it. A name that cannot be written so fits no pattern."""
    if not host.isascii():
        try:
            host = host.encode("idna").decode()
        except UnicodeError:
            return ""
    return host.lower().removesuffix(".")


def allows_command(rules: Sequence[Rule], command: str) -> Rule | None:
    """The rule that allows a command line: as a whole, or the first of those that allow its parts."""
    command = command.strip(" \t")
    whole = next((rule for rule in rules if not rule.pattern or rule.pattern == command), None)
    if whole is not None:
        return whole
    line = understand(command)
    if line is None:
        return None
    known = [(rule, pattern) for rule in rules if (pattern := understand(rule.pattern)) is not None]
    whole = next((rule for rule, pattern in known if _same_shape(pattern, line)), None)
    if whole is not None:
        return whole
    each = [_allowing_part(known, words) for words in line.commands]
    return each[0] if all(each) else None


def _allowing_part(known: list[tuple[Rule, CommandLine]], words: tuple[Word, ...]) -> Rule | None:
    return next((rule for rule, line in known if not line.operators and _fits(line.commands[0], words)), None)


def _same_shape(pattern: CommandLine, line: CommandLine) -> bool:
    return pattern.operators == line.operators and all(map(_fits, pattern.commands, line.commands))


def _fits(pattern: tuple[Word, ...], words: tuple[Word, ...]) -> bool:
    """Each word of the pattern in turn; a star alone takes as many words as it must."""
    star, resume, at, position = -1, 0, 0, 0
    while position < len(words):
        if at < len(pattern) and pattern[at].bare and pattern[at].text == "*":
            star, resume, at = at, position, at + 1
        elif at < len(pattern) and _word_fits(pattern[at], words[position]):
            at, position = at + 1, position + 1
        elif star >= 0:
            resume += 1
            at, position = star + 1, resume
        else:
            return False
    return all(word.bare and word.text == "*" for word in pattern[at:])


def _word_fits(pattern: Word, word: Word) -> bool:
    if not pattern.bare or "*" not in pattern.text:
        return pattern.text == word.text
    # A word that the shell expands could become anything, several words too.
    return not (word.bare and set("*?[]") & set(word.text)) and _star_expression(pattern.text)(word.text) is not None


@lru_cache(256)
def _star_expression(pattern: str, flags: int = 0) -> Matcher:
    return re.compile(".*".join(map(re.escape, re.split(r"\*+", pattern))), re.DOTALL | flags).fullmatch


def denies_command(rule: Rule, command: str) -> bool:
    """Whether the command that a rule denies could be anywhere in a command line."""
    if not rule.pattern or rule.pattern == command.strip(" \t"):
        return True
    parts = suspect_words(rule.pattern)
    if len(parts) != 1:
        return rule.pattern in command
    return any(_occurs(parts[0], words) for words in suspect_words(command))


def _occurs(pattern: list[str], words: list[str]) -> bool:
    """Whether the pattern's words stand anywhere; options, each with one value at most, may stand in between.

    From the last word of the pattern to the first: `begins[at]` says whether what is behind stands at that place.
    """
    begins = [True] * (len(words) + 1)
    for wanted in reversed(pattern):
        if wanted == "*":
            for at in reversed(range(len(words))):
                begins[at] = begins[at] or begins[at + 1]
            continue
        fits = _star_expression(wanted, re.IGNORECASE)
        here = [fits(word) is not None or fits(word.rpartition("/")[2]) is not None for word in words]
        begins = [found and any(begins[on] for on in _onward(words, at + 1)) for at, found in enumerate(here)]
        begins.append(False)
    return any(begins[:-1])


def _onward(words: list[str], at: int) -> list[int]:
    """Where the next word that matters may be: here, or behind a few options and the values some of them have."""
    places = [at]
    while at < len(words) and words[at].startswith("-") and len(places) < _OPTIONS_BETWEEN:
        at += 1
        places.append(at)
        if at < len(words) and not words[at].startswith("-"):
            at += 1
            places.append(at)
    return places


def suggest(access: Access, what: str) -> str:
    """The narrowest rule that allows this and nothing else; the whole class where a pattern cannot say it."""
    if access == "exec":
        pattern = _suggested_pattern(what) if len(what) <= _LONGEST_SUGGESTION else ""
    elif access == "network":
        pattern = _plain_host(what)
    else:
        pattern = _itself(what.rstrip("/") or "/.")  # with a slash at its end it is a folder whole
    try:
        return str(parse_rule(f"{access}({pattern})"))
    except RuleMistake:
        return access


def _suggested_pattern(command: str) -> str:
    """Its words, each so that it means itself; a command line nobody understands is its own pattern."""
    line = understand(command)
    written = [[quoted(word) for word in words] for words in line.commands] if line is not None else [[None]]
    if line is None or any(word is None for words in written for word in words):
        return command.strip(" \t")
    commands = [" ".join(word or "" for word in words) for words in written]
    return commands[0] + "".join(f" {sign} {text}" for sign, text in zip(line.operators, commands[1:], strict=True))
