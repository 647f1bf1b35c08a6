"""Whether a command line runs what a rule denies: certainly, possibly, or not.

Rules:

- The pattern's words are looked for in every command there is, at any place of it, so that no program in front
  (`sudo`, `xargs`, `ssh host`) hides them. Options, each with one value at most, may stand between them, and more words
  behind them. An option of the pattern may stand anywhere behind its program.
- A word that could be read as a command line is read as one: an argument of `sh -c`, a comment, a here-document.
- What is computed has no value as far as certainty goes. Where it could be what the pattern names, in the place of a
  command or behind the pattern's program, it is possible. So it is for what a shell reads: from a pipe, from an open
  file, from whatever the line gives to the group or the function that the shell is in.
- Case does not matter, nor does the folder of a program.
- The time grows with the command line: what would take more is not read to its end, and then everything is possible.
"""

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import accumulate

import msgspec

from sightline.settings.rules._command_line import trimmed
from sightline.settings.rules._rules import Certainty
from sightline.settings.rules._shell_reading import (
    ANY,
    SOME,
    STAR,
    ShellReadCommand,
    ShellReading,
    ShellWord,
    is_open_already,
    pattern_words,
    read_commands,
)
from sightline.settings.rules._stars import fits_stars

_NO, _POSSIBLE, _CERTAIN = map(int, Certainty)

_SHELLS = frozenset(
    ["sh", "bash", "rbash", "dash", "ash", "zsh", "ksh", "mksh", "fish", "busybox", "toybox", ".", "source"]
)
_SOURCES = frozenset([".", "source"])
_PROGRAM_SHELLS = _SHELLS - _SOURCES
# Programs that run what they are given: any of their words may be the beginning of a command.
_RUNNERS = _SHELLS.union(
    (
        "eval",
        "exec",
        "command",
        "builtin",
        "trap",
        "coproc",
        "alias",
        "hash",
        "mapfile",
        "readarray",
        "complete",
        "compgen",
    ),
    ("env", "sudo", "doas", "su", "runuser", "setpriv", "nice", "ionice", "chrt", "taskset", "numactl", "nohup"),
    (
        "setsid",
        "timeout",
        "time",
        "stdbuf",
        "unbuffer",
        "script",
        "rlwrap",
        "xargs",
        "parallel",
        "find",
        "fd",
        "fdfind",
    ),
    ("watch", "entr", "ssh", "strace", "ltrace", "unshare", "nsenter", "chroot", "proot", "flock", "systemd-run"),
    ("bwrap", "firejail", "fakeroot", "faketime", "torsocks", "proxychains", "cgexec", "bind", "prlimit", "choom"),
    ("setarch", "linux32", "linux64", "i386", "x86_64", "pkexec", "gosu", "su-exec", "tini", "dumb-init", "xvfb-run"),
    ("dbus-run-session", "systemd-inhibit", "eatmydata", "gdb", "valgrind", "perf", "hyperfine", "tmux", "screen"),
)
_JOIN_THEIR_WORDS = frozenset(["eval", "ssh", "watch", "su", "trap", "env", "alias"])
_MORE = ShellWord(ANY, "")
_LONGEST = 128 * 1024  # no system starts a shell with a longer command line
_KEYWORDS = frozenset(
    ["if", "then", "else", "elif", "do", "while", "until", "time", "!", "{", "}", "fi", "done", "function"]
)
_assigns = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\[[^\]]*\])?\+?=").match
_could_be_commands = re.compile(r"[\s;&|()<>`$'\"\\{}]").search
_is_a_file_pattern = re.compile(r"[*?\[]").search
_odd_blank = re.compile(r"[^\S \t\n]")
# Of a shell: options that have a value, which is no script.
_has_a_value = re.compile(r"[-+][A-Za-z]*[oO]|--(?:rcfile|init-file)").fullmatch
_NAMES_COMMANDS = ("BASH_CMDS", "BASH_ALIASES")
_RUN_BY_ITSELF = re.compile(r"(?:PS[0124]|PROMPT_COMMAND|BASH_ENV)(?:\+?=|$)").match
_split_option = re.compile(r"-[A-Za-z0]*S|--s[a-z-]*(?:=|\Z)").match
_has_a_letter = re.compile("[a-z]").search  # else a file pattern is about files, and not there to spell a name
_bracket = re.compile(r"\[[!^]?\]?(?:\[:[a-z]{0,9}:\]|\[[.=].{0,9}?[.=]\]|[^]])*\]")


def certainty(pattern: str, command: str) -> Certainty:
    """Whether a command line runs what the pattern names."""
    expected = _patterns(pattern)
    if not expected or pattern == trimmed(command):
        return Certainty.CERTAIN if pattern in command else Certainty.NO
    lines = _lines(command)
    return Certainty(min(max((line.finds(each) for line in lines), default=_NO) for each in expected))


class _Pattern(msgspec.Struct, frozen=True):
    """`words` are those that are no options, the program first; all in lower case."""

    words: tuple[str, ...]
    options: tuple[str, ...]


@lru_cache(256)
def _patterns(pattern: str) -> tuple[_Pattern, ...]:
    """One for each command of it; none where it can only be looked for as a text."""
    return tuple(map(_one_pattern, pattern_words(pattern)))


def _one_pattern(written: list[str]) -> _Pattern:
    program, *rest = [word.lower() for word in written]
    options = [word for word in rest if word.startswith("-") and word != "--"]
    return _Pattern((program, *(word for word in rest if word not in options)), tuple(options))


class _Line:
    """A command in which something could be found. `places`: where a command may begin; None: anywhere. `runs`: it is
    one for certain, not only what a word says. `anything`: what it runs cannot be known."""

    def __init__(
        self, words: list[ShellWord], places: frozenset[int] | None, *, runs: bool, anything: bool = False
    ) -> None:
        self.words = words
        self.places = places
        self._runs = runs
        self._anything = anything
        # Long lines repeat their words: each is looked at once.
        numbers = {word: number for number, word in enumerate(dict.fromkeys(words))}
        self.different = list(numbers)
        self.numbers = [numbers[word] for word in words]
        kinds = list(map(_kind, self.different))
        self.kinds = [*(kinds[number] for number in self.numbers), _END]
        self.skipped = [at for at in reversed(range(len(words))) if self.kinds[at] != _WORD]
        self.many = [at for at in self.skipped if ANY in words[at].text]

    def finds(self, pattern: _Pattern) -> int:
        found = _found(pattern, self)
        if found == _CERTAIN:
            return _CERTAIN
        return _POSSIBLE if self._anything else found if self._runs else _NO


_WORD, _OPTION, _EMPTY, _COMPUTED, _END = range(5)


def _kind(word: ShellWord) -> int:
    if word.guess.startswith("-"):
        return _OPTION
    if not word.is_computed:
        return _WORD
    return _EMPTY if not word.guess and ANY in word.text else _COMPUTED


@lru_cache(2)
def _lines(command: str) -> tuple[_Line, ...]:
    """Everything in a command line that could be a command, the line in the words' own words included."""
    found: list[tuple[ShellReadCommand, bool]] = []
    waiting = [(command, True)]
    if _odd_blank.search(command):
        waiting.append((_odd_blank.sub(" ", command), True))
    budget = 8 * len(command) + 50_000 if len(command) <= _LONGEST else 0
    known: set[tuple[str, bool]] = set()
    feeds, complete = False, True
    while waiting and complete:
        text, runs = waiting.pop()
        if (text, runs) in known:
            continue
        known.add((text, runs))
        budget -= len(text)
        seen = read_commands(text) if budget >= 0 else ShellReading(complete=False)
        complete, feeds = seen.complete, feeds or seen.feeds or "coproc" in text
        waiting += [(comment, False) for comment in seen.texts]
        found += [(one, runs) for one in seen.commands]
        waiting += [each for one in seen.commands for each in _texts(one, runs)]
    lines = [_line(one, runs, feeds=feeds) for one, runs in found]
    return (*lines, *([] if complete else [_Line([], None, runs=True, anything=True)]))


def _line(command: ShellReadCommand, runs: bool, *, feeds: bool) -> _Line:
    words, start = command.words, _first(command.words)
    places: frozenset[int] | None = frozenset([start, *_behind_grammar(words, start)])
    if _is_runner(words, start):
        places = _places(words, start)
        words = _filled(words)
    anything = runs and (_reads_commands(command, start, feeds=feeds) or any(map(_names_commands, words)))
    return _Line(words, places, runs=runs, anything=anything)


def _first(words: list[ShellWord]) -> int:
    """Where the program stands: behind words of the shell's grammar and assignments."""
    for at, word in enumerate(words):
        belongs = at > 0 and (word.text in ("-p", "--") or words[at - 1].text == "function")
        if word.text not in _KEYWORDS and not belongs and not _assigns(word.text):
            return at
    return len(words)


def _behind_grammar(words: list[ShellWord], start: int) -> list[int]:
    """Where else a program may stand: `for x do COMMAND`."""
    if start >= len(words) or words[start].text not in ("for", "select"):
        return []
    return [at + 1 for at, word in enumerate(words[:-1]) if word.text in ("do", "{")]


def _is_runner(words: list[ShellWord], start: int) -> bool:
    return start < len(words) and _is_one_of(words[start], _RUNNERS)


@lru_cache(4096)
def _is_one_of(word: ShellWord, names: frozenset[str]) -> bool:
    """Whether a program is one of these, or may be: its name is a file pattern."""
    name = _name(word)
    return name in names or (word.globs and any(_globbed(each, name) for each in names))


def _names_commands(word: ShellWord) -> bool:
    """Bash looks up aliases and programs in variables, and runs what some of them hold; of these, one that is not
    whole cannot be read."""
    if _RUN_BY_ITSELF(word.text) and (word.is_computed or not word.text.partition("=")[2] or "+=" in word.text):
        return True
    return word.text.startswith(_NAMES_COMMANDS) or any(f"={name}" in word.text for name in _NAMES_COMMANDS)


def _places(words: list[ShellWord], start: int) -> frozenset[int] | None:
    """Of `find`, behind an option to run something; of the others, everywhere."""
    if _name(words[start]) not in ("find", "fd", "fdfind"):
        return None
    options = [at for at, word in enumerate(words) if word.guess.startswith(("-exec", "-ok", "-x", "-X", "--exec"))]
    return frozenset([start]) if not options else frozenset([start, *range(options[0], len(words))])


def _filled(words: list[ShellWord]) -> list[ShellWord]:
    """With what a runner puts in: the words it reads, and what it found in the place of `{}`."""
    names = {_name(word) for word in words}
    if not names.isdisjoint(["alias", "hash"]):  # what they name will be given more words
        return [each for word in words for each in (word, _MORE)]
    filled = [_with_input(word, sign) for sign in _places_held(words) for word in words]
    return [*filled, _MORE] if not names.isdisjoint(["xargs", "parallel"]) else filled


def _places_held(words: list[ShellWord]) -> list[str]:
    for at, word in enumerate(words):
        if word.guess in ("-I", "-J", "--replace") and at + 1 < len(words):
            return [words[at + 1].guess]
        if word.guess.startswith(("-I", "-J")):
            return [word.guess[2:]]
        if word.guess.startswith("--replace="):
            return [word.guess.partition("=")[2]]
    return ["{}"]


def _with_input(word: ShellWord, sign: str) -> ShellWord:
    if not sign or sign not in word.text:
        return word
    return ShellWord(word.text.replace(sign, ANY), word.guess.replace(sign, ""), word.globs)


def _reads_commands(command: ShellReadCommand, start: int, *, feeds: bool) -> bool:
    """Whether it is a shell that runs what it reads, and that cannot be known. `feeds`: the line has input for it."""
    words = command.words
    if not feeds or start >= len(words):
        return False
    # What runs others, and is itself computed, may be anything that reads them.
    if _could_be_a_shell(words[start]) and any(_is_one_of(each, _RUNNERS) for each in words[start + 1 :]):
        return True
    is_known = not command.reads_output and bool(command.input or command.reads_file)
    shells = frozenset(_shells(words, start))
    script = opened = computed = False
    for at in reversed(range(start, len(words) if shells else start)):
        if at in shells and ((computed and command.reads_output) or ((opened or not script) and not is_known)):
            return True
        word = words[at]
        opened = opened or word.guess == "-s" or is_open_already(word.guess)
        if _is_operand(word, words[at - 1]):
            script, computed = True, computed or word.is_computed
    return False


def _is_operand(word: ShellWord, before: ShellWord) -> bool:
    """Whether it is no option of a shell, nor the value of one, nor the end of what `find` runs."""
    return not word.guess.startswith(("-", "+")) and word.guess not in (";", "{}") and not _has_a_value(before.guess)


def _shells(words: list[ShellWord], start: int) -> list[int]:
    """Where a shell stands, or what may be one. `.` is one as a program only, elsewhere it is a folder."""
    end = len(words) if _is_runner(words, start) else start + 1
    found = [
        at
        for at in range(start, end)
        if (at == start or _has_a_letter(_name(words[at]))) and _is_one_of(words[at], _PROGRAM_SHELLS)
    ]
    at = start
    while at < len(words) and (words[at].guess in ("command", "builtin", "--") or words[at].guess.startswith("-p")):
        at += 1
    if at < len(words) and (words[at].guess in _SOURCES or _could_be_a_shell(words[at])):
        found.append(at)
    return found


def _could_be_a_shell(word: ShellWord) -> bool:
    return word.is_computed and any(_could_be(name, word.text.lower(), program=True) for name in _SHELLS)


def _texts(command: ShellReadCommand, runs: bool) -> Iterable[tuple[str, bool]]:
    """What in a command could be read as a command line; with whether it is one for certain."""
    words, start = command.words, _first(command.words)
    is_runner = runs and _is_runner(words, start)
    places = _places(words, start) if is_runner else frozenset[int]()
    for at, word in enumerate(words):
        is_code = places is None or at in places
        for text in {word.text, word.guess}:
            for part in {text, text.partition("=")[2], text[2:] if text.startswith("-") else ""}:
                if _could_be_commands(part) or (is_code and (part[:1] in (ANY, SOME) or _is_a_file_pattern(part))):
                    yield _odd_blank.sub(" ", part.lstrip("!")).replace(SOME, ANY), is_code
    joining = next((at for at, word in enumerate(words) if is_runner and _name(word) in _JOIN_THEIR_WORDS), len(words))
    if joining < len(words):
        yield " ".join(each.text for each in words[joining + 1 :]).replace(SOME, ANY), True
    if is_runner and any(_split_option(each.guess) for each in words):
        yield _split_words(words[start + 1 :]).replace(SOME, ANY), True
    if is_runner and _name(words[start]) == "trap":
        yield from ((each.text, True) for each in words[start + 1 : start + 3])
    is_shell = runs and start < len(words) and bool(_shells(words, start))
    for text in command.input:
        yield text.replace(SOME, ANY) if is_shell else text, is_shell


def _split_words(words: list[ShellWord]) -> str:
    """What `env -S` makes of its value, with the words behind it."""
    parts, splits = list[str](), False
    for word in words:
        option = _split_option(word.guess)
        text = word.text if option is None else word.text[option.end() :]
        parts.append(_split(text) if splits or option is not None else text)
        splits = option is not None and not text
    return " ".join(parts)


def _split(text: str) -> str:
    """A comment ends it, as `\\c` does; `\\_` separates words."""
    return re.sub(r"\\c.*|(?:^|\s)#.*", "", text.replace("\\_", " "), flags=re.DOTALL)


def _name(word: ShellWord) -> str:
    return _basename(word.guess.lower())


def _basename(text: str) -> str:
    return text.rpartition("/")[2]


def _found(pattern: _Pattern, line: _Line) -> int:
    """Whether the pattern's words stand anywhere in a command, from its last word to its first.

    `begins[at]`: how certainly the pattern, from the word in hand on, stands at that place. `inside[at]`: the same,
    where what is computed at that place has been some of the pattern already.
    """
    count, program = len(line.words), pattern.words[0]
    fits = _fits(program, line, program=True)
    if program != STAR and not any(fits):
        return _NO
    begins, inside = [_CERTAIN] * (count + 1), [_CERTAIN] * (count + 1)
    for number in reversed(range(len(pattern.words))):
        expected = pattern.words[number]
        onward = _onward(begins, line)
        options = () if number else pattern.options
        behind = [_from_the_end([*_fits(option, line), _NO]) for option in options]
        if expected == STAR:
            begins = inside = list(map(min, _from_the_end(onward), *behind)) if behind else _from_the_end(onward)
            continue
        rest = onward[1:]
        for each in behind:
            rest = list(map(min, rest, each[1:]))
        here = _fits(expected, line) if number else fits
        began, within = [*map(min, here, rest), _NO], [_NO] * (count + 1)
        for at in line.many:  # it may be this word of the pattern, and the next ones, and their options
            later = min([max(onward[at + 1], min(_POSSIBLE, inside[at])), *(each[at] for each in behind)])
            began[at], within[at] = min(here[at], later), min(_POSSIBLE, later)
        begins, inside = began, within
    if program == STAR:
        return max(begins)
    if line.places is None:
        return max(begins)
    # A word that is the program's name counts wherever it stands; a file pattern (`ls *`) only where a command begins.
    named = (fits[at] == _CERTAIN and not word.globs for at, word in enumerate(line.words))
    return max(
        (
            level
            for at, (level, is_named) in enumerate(zip(begins[:-1], named, strict=True))
            if is_named or at in line.places
        ),
        default=_NO,
    )


def _fits(expected: str, line: "_Line", *, program: bool = False) -> list[int]:
    known = [_fit(expected, word, program=program) for word in line.different]
    return [known[number] for number in line.numbers]


def _from_the_end(levels: list[int]) -> list[int]:
    """The highest at this place or behind it."""
    return list(accumulate(reversed(levels), max))[::-1]


def _onward(begins: list[int], line: "_Line") -> list[int]:
    """What stands here, or behind options, each with a value or without, and behind words that may be none."""
    result = list(begins)
    kinds = line.kinds
    for at in line.skipped:
        behind = result[at + 1]
        if kinds[at] == _OPTION:
            if kinds[at + 1] not in (_OPTION, _END):
                behind = max(behind, result[at + 2])
        elif kinds[at] == _COMPUTED:
            behind = min(behind, _POSSIBLE)
        if behind > result[at]:
            result[at] = behind
    return result


@lru_cache(4096)
def _fit(expected: str, word: ShellWord, *, program: bool) -> int:
    if any(_is(expected, form) for form in _forms(word.guess.lower())):
        return _CERTAIN
    if word.globs and (STAR in expected or any(_globbed(expected, form) for form in _forms(word.guess.lower()))):
        return _CERTAIN if program else _POSSIBLE
    if ANY in word.text and not program and expected.startswith("-"):
        return _POSSIBLE
    return _POSSIBLE if word.is_computed and _could_be(expected, word.text.lower(), program=program) else _NO


_MOST_FORMS = 20


def _forms(text: str) -> tuple[str, ...]:
    """As it is; without its folder; what is behind `=`; without what git puts before a command of the shell; what an
    alias of git stands for."""
    value = text.partition("=")[2]
    aliased = re.sub(r"[\"'\\]", "", value).split()[:_MOST_FORMS] if text.startswith("alias.") else []
    return (text, _basename(text), value or text, text.lstrip("!"), *aliased)


def _is(expected: str, text: str) -> bool:
    if fits_stars(expected.split(STAR), text):
        return True
    if not expected.startswith("--") or not text.startswith("--"):
        return False
    name = text.partition("=")[0]
    return len(name) > 2 and expected.startswith(name)  # programs take the beginning of an option for it


def _globbed(expected: str, text: str) -> bool:
    """Whether the file pattern could be this name. A long one is not looked at closely."""
    if len(text) > 200 or text.count("*") > 8:
        return True
    return fnmatchcase(expected, _without_brackets(text))


@lru_cache(4096)
def _without_brackets(text: str) -> str:
    """Those of bash can say more than those of Python: each stands for any character."""
    return _bracket.sub("?", text)


def _could_be(expected: str, text: str, *, program: bool) -> bool:
    """Whether what stands before and behind what is computed agrees with the pattern."""
    text = _basename(text) if "/" in text and "/" not in expected else text
    parts = re.split(f"[{ANY}{SOME}]", text)
    before, behind = parts[0], "" if ANY in text else parts[-1]  # the end may be that of a later word
    if program and len(parts) > 1:
        before = ""  # of a program it may be a folder
    if STAR not in expected:
        return expected.startswith(before) and expected.endswith(behind) and len(before) + len(behind) <= len(expected)
    beginning, ending = expected.split(STAR)[0], expected.split(STAR)[-1]
    return _agree(before, beginning) and _agree(behind[::-1], ending[::-1])


def _agree(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one)
