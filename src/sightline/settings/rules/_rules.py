"""The language of permission rules: `class` or `class(pattern)`, of a command with where it holds. Nothing here touches
the disk.

Rules:

- The classes are `read`, `write`, `exec` and `network`. A class alone means everything of it.
- A path pattern is a glob: `*` and `?` within a name, `**` across folders, `\\` before a character that means itself.
  `DIR/**` and `DIR/` are the folder and all below it. A relative one is below the workspace, `~` is the home folder.
- A command pattern is a command line. `*` as a word is any number of words, inside a word any characters of it; in
  quotes it is a star. It allows a command of the same words and the same operators, and besides that only the very
  text of the pattern. A compound is allowed when each of its commands is, up to one that changes what the next ones
  mean, such as `cd`.
- It covers a command with harmless variables before it (`CI=1`, see `_harmless`), with redirects that write nowhere
  (`2>&1`, `>/dev/null`), and piped into `head`, `tail` or `wc` of that output. Not one that variables are passed to.
- Quotes count: a word that a shell expands (`~`, `*.py`) is never one that means itself (`'~'`), and the reverse.
- Behind a command pattern: `exactly` (a star is a star, only this text is meant), `sandboxed` (in the sandbox only),
  `with NAME,NAME` (variables, or patterns of their names, that the command gets although they are withheld from others)
  and `in FOLDER`. Without a folder, the workspace is meant: it and the folders below, but no repository in it.
- A pattern that denies sees more than one that allows: see `_denial`.
- A host pattern is a host name in which `*` is anything, dots included; without a port it means every port. An
  address is the same however it is written. What is no host fits no pattern that allows and every one that denies.
- Matching takes time in proportion to what is matched.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from enum import IntEnum
from functools import lru_cache
from typing import Literal

import msgspec

from sightline.exceptions import UserMistake
from sightline.settings.rules._command_line import ParsedCommandLine, Word, quoted, trimmed, understand
from sightline.settings.rules._stars import fits_stars

Access = Literal["read", "write", "exec", "network"]
ACCESSES: tuple[Access, ...] = ("read", "write", "exec", "network")

# Nothing behind the last parenthesis has one, so that a command with parentheses ends where it should.
_rule = re.compile(r"\s*([A-Za-z_]+)\s*(?:\((.*)\))?([^()]*)", re.DOTALL).fullmatch
_scope = re.compile(
    r"(exactly\b\s*)?(sandboxed\b\s*)?(?:with[ \t]+((?!in\b)[^\s,]+(?:[ \t]*,[ \t]*(?!in\b)[^\s,]+)*)\s*)?"
    r"(?:in[ \t]+(\S.*))?",
    re.DOTALL,
).fullmatch
_variable = re.compile(r"[A-Za-z_][A-Za-z0-9_*]*").fullmatch
_plain_folder = re.compile(r"(?!.*\ssandboxed$)[^\s\"()][^\"()\n]*(?<!\s)").fullmatch
_host = re.compile(r"(\[[0-9a-f:.*]+\]|[a-z0-9._*-]+|[0-9a-f:.*]*:[0-9a-f:.*]*:[0-9a-f:.*]*)(?::([0-9]+))?").fullmatch
_could_be_a_number = re.compile(r"[0-9a-fx.:]+").fullmatch
_LONGEST_SUGGESTION = 2000

_half = re.compile("[\ud800-\udbff\udc00-\udc7f\udd00-\udfff]").search  # the others stand for bytes of a name


class RuleMistake(UserMistake):
    """A permission rule that cannot be read."""


class Certainty(IntEnum):
    """Whether a rule that denies is about a command. Possible: the command computes what it runs."""

    NO = 0
    POSSIBLE = 1
    CERTAIN = 2


class Rule(msgspec.Struct, frozen=True):
    """An empty pattern is everything of the class, an empty folder the workspace."""

    access: Access
    pattern: str = ""
    exactly: bool = False
    sandboxed: bool = False
    folder: str = ""
    passed: tuple[str, ...] = ()  # names of variables, or patterns of them

    def __str__(self) -> str:
        words = [f"{self.access}({self.pattern})" if self.pattern else self.access]
        words += ["exactly"] if self.exactly else []
        words += ["sandboxed"] if self.sandboxed else []
        words += [f"with {','.join(self.passed)}"] if self.passed else []
        words += [f"in {_written_folder(self.folder)}"] if self.folder else []
        return " ".join(words)


def _written_folder(folder: str) -> str:
    """A name that is not plain text is written as a JSON string, without parentheses."""
    if _plain_folder(folder) and folder.isprintable():
        return folder
    import json

    return json.dumps(folder).replace("(", "\\u0028").replace(")", "\\u0029")


@lru_cache(256)
def parse_rule(text: str, *, denies: bool = False) -> Rule:
    if "\0" in text or (not text.isascii() and _half(text) is not None):
        raise RuleMistake(f"not a rule: {text}", "a path, command or host cannot have a NUL or a lone surrogate in it")
    match = _rule(text)
    scope = _scope(match[3].strip()) if match is not None else None
    if match is None or scope is None:
        raise RuleMistake(f"not a rule: {text}", "write class or class(pattern), such as exec(git push *)")
    name, pattern = match[1], match[2]
    access = next((known for known in ACCESSES if known == name), None)
    if access is None:
        raise RuleMistake(f"not a rule: {text}", f"{name} is not one of {', '.join(ACCESSES)}")
    if access != "exec" and any(scope.groups()):
        raise RuleMistake(f"not a rule: {text}", "only a rule for commands can have words after its pattern")
    if scope[1] and pattern is None:
        raise RuleMistake(f"not a rule: {text}", "exactly needs a command: exec(make *) exactly")
    if pattern is not None:
        if access not in ("read", "write"):  # a file's name may begin and end with spaces
            pattern = trimmed(pattern)
        if not pattern.strip():
            raise RuleMistake(f"empty pattern: {text}", f"write {access} alone to match everything")
        _check_pattern(access, pattern, text, denies=denies, exactly=bool(scope[1]))
    if scope[3] and denies:
        raise RuleMistake(f"not a rule: {text}", "only a rule that allows a command can pass variables to it")
    passed = tuple(checked_variable(name) for name in re.split(r"[\s,]+", (scope[3] or "").strip()) if name)
    return Rule(access, pattern or "", bool(scope[1]), bool(scope[2]), _read_folder(scope[4] or "", text), passed)


def checked_variable(name: str) -> str:
    """The name of a variable, or a pattern of names; RuleMistake for anything else."""
    if not _variable(name):
        raise RuleMistake(f"not the name of a variable: {name}", "write names such as GITHUB_TOKEN or AWS_*")
    return name


def _read_folder(written: str, text: str) -> str:
    if not written.startswith('"'):
        if ".." in written.split("/"):
            raise RuleMistake(f"`..` in a folder: {text}", "write the folder itself")
        if written.split()[-1:] == ["sandboxed"] and len(written.split()) > 1:
            raise RuleMistake(f"not a rule: {text}", "write sandboxed before in FOLDER")
        return written
    import json

    try:
        folder = json.loads(written)
    except ValueError:
        folder = None
    if not isinstance(folder, str) or not folder:
        raise RuleMistake(f"not a folder: {text}", "write it without quotes, or as a JSON string")
    return folder


def _check_pattern(access: Access, pattern: str, text: str, *, denies: bool, exactly: bool) -> None:
    if access == "exec":
        if "*" in pattern.split()[0] and not denies and not exactly:
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
    base, names = _path_pattern(rule.pattern, workspace, home, denies)
    found = (path.casefold() if denies else path).rstrip("/").split("/")
    return found[: len(base)] == base and _fit_names(names, found[len(base) :])


@lru_cache(1024)
def _path_pattern(pattern: str, workspace: str, home: str, denies: bool) -> tuple[list[str], list[str]]:
    """The folder it begins in, name by name, and the names of the pattern. Denying does not look at case: on some disks
    a file has many spellings."""
    base, names = path_parts(pattern, workspace, home)
    folders = base.rstrip("/").split("/")
    return ([each.casefold() for each in folders], [each.casefold() for each in names]) if denies else (folders, names)


def _fit_names(pattern: list[str], found: list[str]) -> bool:
    """Each name of the pattern in turn; `**` takes as many as it must. The first place where what is behind a `**` fits
    leaves the most for the next, so only the last `**` is ever tried again."""
    star, resume, at, position = -1, 0, 0, 0
    while position < len(found):
        if at < len(pattern) and pattern[at] == "**":
            star, resume, at = at, position, at + 1
        elif at < len(pattern) and found[position] and fits_name(pattern[at], found[position]):
            at, position = at + 1, position + 1
        elif star >= 0 and found[resume]:
            resume += 1
            at, position = star + 1, resume
        else:
            return False
    return all(name == "**" for name in pattern[at:])


def fits_name(pattern: str, name: str) -> bool:
    """The same within a name: `*` takes as many characters as it must, `?` one."""
    signs = _name_signs(pattern)
    star, resume, at, position = -1, 0, 0, 0
    while position < len(name):
        if at < len(signs) and signs[at] == _MANY:
            star, resume, at = at, position, at + 1
        elif at < len(signs) and signs[at] in (_ONE, name[position]):
            at, position = at + 1, position + 1
        elif star >= 0:
            resume += 1
            at, position = star + 1, resume
        else:
            return False
    return all(sign == _MANY for sign in signs[at:])


_MANY, _ONE = "many", "one"


@lru_cache(1024)
def _name_signs(pattern: str) -> tuple[str, ...]:
    pieces = re.findall(r"\\.|\*+|.", pattern, flags=re.DOTALL)
    return tuple(
        _MANY if piece[0] == "*" else _ONE if piece == "?" else piece[-1] if piece != "\\" else piece
        for piece in pieces
    )


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
    return rule if real == written else Rule(rule.access, "/".join([itself(real), *names[plain:]]))


def anchored(text: str, workspace: str, *, denies: bool = False) -> str:
    """The rule that means in every workspace what this one means in that."""
    rule = parse_rule(text, denies=denies)
    if rule.access in ("read", "write") and rule.pattern and not is_absolute(rule.pattern):
        return str(msgspec.structs.replace(rule, pattern=f"{itself(workspace)}/{rule.pattern}"))
    # Without a folder a rule that allows is about the workspace, and one that denies about every place.
    if rule.access == "exec" and (rule.folder or not denies) and not is_absolute(rule.folder):
        return str(msgspec.structs.replace(rule, folder=f"{workspace}/{rule.folder}".rstrip("/")))
    return text


def is_absolute(path: str) -> bool:
    return path.startswith(("/", "~/")) or path == "~"


def itself(path: str) -> str:
    """The pattern of this path alone."""
    return re.sub(r"[\\*?]", r"\\\g<0>", path)


def matches_host(rule: Rule, host: str, *, denies: bool = False) -> bool:
    if not rule.pattern:
        return True
    named, given = _host(rule.pattern.lower().removesuffix(".")), _host(_plain_host(host))
    if named is None or given is None or "*" in given[0]:
        return denies
    if named[2] is not None and (given[2] is not None or not denies) and _port(named[2]) != _port(given[2]):
        return False
    return fits_stars(_address(named[1]).split("*"), _address(given[1]))


def _port(written: str | None) -> int:
    return int(written[-9:]) if written else 0


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
    command = trimmed(command)
    whole = next((rule for rule in rules if not rule.pattern or rule.pattern == command), None)
    if whole is not None:
        return whole
    line = understand(command, is_pattern=False)
    if line is None:
        return None
    known = [(rule, pattern) for rule in rules if (pattern := _understood(rule)) is not None]
    whole = next((rule for rule, pattern in known if _same_shape(pattern, line)), None)
    if whole is not None:
        return whole
    if any(map(_changes_what_follows, line.commands[:-1])):
        return None
    simple = [(rule, pattern.commands[0]) for rule, pattern in known if not pattern.operators]
    allowing: list[Rule] = []
    for operator, words in zip(("", *line.operators), line.commands, strict=True):
        rule = _allowing(simple, words)
        if rule is None and operator == "|" and _is_filter(words) and not allowing[-1].passed:
            rule = allowing[-1]
        if rule is None:
            return None
        allowing.append(rule)
    return allowing[0]


_count = re.compile(r"-[0-9]{1,9}|-[nc][+-]?[0-9]{1,9}").fullmatch
_number = re.compile(r"[+-]?[0-9]{1,9}").fullmatch


def _is_filter(words: tuple[Word, ...]) -> bool:
    """Whether it shows a part of what another command writes into it, and can do nothing else: `| tail -20`."""
    program, *rest = (word.text for word in words)
    if not all(word.bare for word in words):
        return False
    if program == "wc":
        return rest in ([], ["-l"], ["-c"], ["-w"])
    if program not in ("head", "tail"):
        return False
    return (
        not rest
        or (len(rest) == 1 and bool(_count(rest[0])))
        or (len(rest) == 2 and rest[0] in ("-n", "-c") and bool(_number(rest[1])))
    )


# Behind these the same words are another command: in another folder, with another PATH, under another name.
_CHANGE_WHAT_FOLLOWS = frozenset[str]().union(
    ("cd", "chdir", "pushd", "popd", "alias", "unalias", "hash", "enable", "builtin", "command", "exec", "eval", "."),
    ("source", "export", "declare", "typeset", "readonly", "local", "unset", "set", "shopt", "trap", "read", "mapfile"),
    ("readarray", "getopts", "umask", "setopt", "emulate", "autoload", "zmodload", "abbr", "let", "wait"),
)
# These take a word for the name of a variable or for arithmetic, and run what is in a subscript: `a[$(…)]`.
_EVALUATE = frozenset[str]().union(
    ("test", "printf", "read", "unset", "declare", "typeset", "local", "readonly", "export", "let", "wait", "mapfile"),
    ("readarray", "getopts", "command", "builtin", "integer", "float", "print"),
)


def _changes_what_follows(words: tuple[Word, ...]) -> bool:
    sets_a_variable = words[0].text == "printf" and len(words) > 1 and words[1].text.startswith("-v")
    return words[0].text in _CHANGE_WHAT_FOLLOWS or sets_a_variable


_folder_word = re.compile(
    r"\b(?:cd|chdir|pushd|popd)\b|(?:^|\s)(?:-[A-Za-z]*[CDd]|--(?:ch|d|cwd|git|work|prefix|manifest))|[$`\\*?\[{'\"]"
)


def changes_folder(command: str) -> bool:
    """Whether something in a command line could run in another folder; rather yes than no."""
    return _folder_word.search(command) is not None


def is_exact(rule: Rule) -> bool:
    """Whether it allows one command line and no other."""
    line = _understood(rule)
    return bool(rule.pattern) and not (line is not None and any(map(_has_star, line.commands)))


def _has_star(words: Iterable[Word]) -> bool:
    return any(word.bare and "*" in word.text for word in words)


def _understood(rule: Rule) -> ParsedCommandLine | None:
    return None if rule.exactly else _understood_pattern(rule.pattern)


_understood_pattern = lru_cache(1024)(understand)


def _allowing(known: list[tuple[Rule, tuple[Word, ...]]], words: tuple[Word, ...]) -> Rule | None:
    return next((rule for rule, pattern in known if _fits(pattern, words)), None)


def _same_shape(pattern: ParsedCommandLine, line: ParsedCommandLine) -> bool:
    return pattern.operators == line.operators and all(map(_fits, pattern.commands, line.commands))


def _fits(pattern: tuple[Word, ...], words: tuple[Word, ...]) -> bool:
    """Each word of the pattern in turn; a star alone takes any number of words, but none that changes the folder.

    `reached` has a bit for each number of words that what was looked at of the pattern can take.
    """
    count = len(words)
    if _evaluates(words) and _has_star(pattern):
        return False
    limits = [*_folder_options(words), count]
    if len(limits) > _MOST_FOLDER_OPTIONS:
        return False
    places: dict[Word, list[int]] = {}
    for at, word in enumerate(words):
        places.setdefault(word, []).append(at)
    reached = 1
    for part in pattern:
        if part.bare and part.text == "*":
            reached = _any_more(reached, limits)
        elif part.bare and "*" in part.text:
            alike = [at for word, there in places.items() if _word_fits(part, word) for at in there]
            reached = (reached & _bits(alike, count)) << 1
        else:
            alike = [at for word in {part, _other(part)} for at in places.get(word, ())]
            reached = (reached & _bits(alike, count)) << 1
        if not reached:
            return False
    return bool(reached >> count & 1)


def _evaluates(words: tuple[Word, ...]) -> bool:
    """Whether the shell itself may run what stands in quotes."""
    return words[0].text in _EVALUATE and any("[" in word.text and set("$`") & set(word.text) for word in words[1:])


def _other(word: Word) -> Word:
    """The same in quotes or without them, where that makes no difference."""
    other = Word(word.text, not word.bare)
    return word if word.expands or other.expands else other


def _any_more(reached: int, limits: list[int]) -> int:
    """All places from those reached up to the next word that a star does not take."""
    result, begin = 0, 0
    for limit in limits:
        here = reached >> begin & (1 << limit - begin + 1) - 1
        if here:
            lowest = here & -here
            result |= ((1 << limit - begin + 1) - lowest) << begin
        begin = limit + 1
    return result


def _bits(places: Iterable[int], count: int) -> int:
    bits = bytearray(count // 8 + 1)
    for place in places:
        bits[place >> 3] |= 1 << (place & 7)
    return int.from_bytes(bits, "little")


_MOST_FOLDER_OPTIONS = 16
# Options with which a program works in another folder than the one it was started in.
_FOLDER_OPTIONS: dict[str, tuple[str, ...]] = {
    "git": ("-C", "--git-dir", "--work-tree", "--exec-path"),
    "make": ("-C", "--directory", "-f", "--file", "--makefile"),
    "gmake": ("-C", "--directory", "-f", "--file", "--makefile"),
    "env": ("-C", "--chdir", "-S", "--split-string"),
    "ninja": ("-C",),
    "meson": ("-C",),
    "go": ("-C",),
    "cargo": ("-C", "--manifest-path"),
    "npm": ("-C", "--prefix"),
    "pnpm": ("-C", "--dir", "--prefix"),
    "yarn": ("--cwd",),
    "just": ("-d", "-f", "--working-directory", "--justfile"),
    "sudo": ("-D", "--chdir"),
}


def _folder_options(words: tuple[Word, ...]) -> list[int]:
    """Which words of a command change the folder; of git, those before its subcommand."""
    program = words[0].text.rpartition("/")[2]
    options = _FOLDER_OPTIONS.get(program, ())
    found = [at for at, word in enumerate(words) if at and options and _is_option(word.text, options)]
    if program != "git" or not found:
        return found
    at = 1
    while at < len(words) and words[at].text.startswith("-"):
        at += 2 if words[at].text in ("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env") else 1
    return [each for each in found if each < at]


def _is_option(text: str, options: tuple[str, ...]) -> bool:
    name = text.partition("=")[0]
    for option in options:
        short = not option.startswith("--")
        if text.startswith(option) if short else len(name) > 3 and option.startswith(name):
            return True
        if short and re.fullmatch(f"-[A-Za-z]*{option[1]}.*", text, re.DOTALL) and not text.startswith("--"):
            return True
    return False


def _word_fits(pattern: Word, word: Word) -> bool:
    """A star in a word is any characters of one that means itself; behind `~/` of one in the home folder."""
    if pattern.text.startswith("~/"):
        if not word.bare or not word.text.startswith("~/"):
            return False
        pattern, word = Word(pattern.text[1:]), Word(word.text[1:])
    return not word.expands and fits_stars(re.split(r"\*+", pattern.text), word.text)


def denies_command(rule: Rule, command: str) -> Certainty:
    """Whether the command that a rule denies is in a command line, or could be."""
    if not rule.pattern:
        return Certainty.CERTAIN
    if rule.exactly:
        return Certainty.CERTAIN if rule.pattern == trimmed(command) else Certainty.NO
    from sightline.settings.rules._denial import certainty  # few sessions deny commands

    return certainty(rule.pattern, command)


def suggest(access: Access, what: str, *, sandboxed: bool = False, folder: str = "") -> str:
    """The rule that allows this and nothing else; empty where no rule can say it."""
    if access == "exec":
        rule = _suggested_command(what, sandboxed, folder) if len(what) <= _LONGEST_SUGGESTION else None
    elif access == "network":
        rule = Rule(access, _plain_host(what))
    else:
        rule = Rule(access, itself(what.rstrip("/") or "/."))  # with a slash at its end it is a folder whole
    try:
        return str(rule) if rule is not None and rule.pattern and parse_rule(str(rule)) == rule else ""
    except (RuleMistake, UnicodeError):
        return ""


def _suggested_command(command: str, sandboxed: bool, folder: str) -> Rule:
    """Its words, each so that it means itself; a command line that is not understood is its own pattern."""
    line, text = understand(command), trimmed(command)
    written = [[quoted(word) for word in words] for words in line.commands] if line is not None else [[None]]
    if line is None or any(word is None for words in written for word in words):
        return Rule("exec", text, False, sandboxed, folder)
    if any(map(_has_star, line.commands)):
        return Rule("exec", text, True, sandboxed, folder)
    commands = [" ".join(word or "" for word in words) for words in written]
    pattern = commands[0] + "".join(f" {sign} {each}" for sign, each in zip(line.operators, commands[1:], strict=True))
    return Rule("exec", pattern, False, sandboxed, folder)
