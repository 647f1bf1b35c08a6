"""Whether a command line runs what a rule denies: certainly, possibly, or not.

Rules:

- The pattern's words are looked for in every command there is, at any place of it, so that no program in front
  (`sudo`, `xargs`, `ssh host`) hides them. Options, each with one value at most, may stand between them, and more words
  behind them. An option of the pattern may stand anywhere behind its program.
- A word that could be read as a command line is read as one: an argument of `sh -c`, a comment, a here-document.
- What is computed has no value as far as certainty goes. Where it could be what the pattern wants, in the place of a
  command or behind the pattern's program, it is possible. So it is for what a shell reads from a pipe.
- Case does not matter, nor does the folder of a program.
- The time grows with the command line: what would take more is not read to its end, and then everything is possible.
"""

import re
from collections.abc import Iterable
from enum import IntEnum
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import accumulate

import msgspec

from sightline.settings._command_line import trimmed
from sightline.settings._shell_reading import ANY, SOME, STAR, Seen, SeenCommand, SeenWord, pattern_words, read_commands
from sightline.settings._stars import fits_stars


class Certainty(IntEnum):
    NO = 0
    POSSIBLE = 1
    CERTAIN = 2


_NO, _POSSIBLE, _CERTAIN = map(int, Certainty)

_SHELLS = frozenset(
    ["sh", "bash", "rbash", "dash", "ash", "zsh", "ksh", "mksh", "fish", "busybox", "toybox", ".", "source"]
)
# Programs that run what they are given: any of their words may be the beginning of a command.
_RUNNERS = _SHELLS.union(
    ("eval", "exec", "command", "builtin", "trap", "coproc", "alias", "hash", "mapfile", "readarray", "complete"),
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
    ("bwrap", "firejail", "fakeroot", "faketime", "torsocks", "proxychains", "cgexec", "bind"),
)
_JOIN_THEIR_WORDS = frozenset(["eval", "ssh", "watch", "su", "trap", "env", "alias"])
_MORE = SeenWord(ANY, "")
_KEYWORDS = frozenset(["if", "then", "else", "elif", "do", "while", "until", "time", "!", "{", "}", "fi", "done"])
_assigns = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\[[^\]]*\])?\+?=").match
_could_be_commands = re.compile(r"[\s;&|()<>`$'\"\\{}]").search
_odd_blank = re.compile(r"[^\S \t\n]")
_STANDARD_INPUT = re.compile(r"-|/dev/stdin|/dev/fd/\d+|/proc/(?:self|\d+)/fd/\d+").fullmatch


def certainty(pattern: str, command: str) -> Certainty:
    """Whether a command line runs what the pattern names."""
    wanted = _patterns(pattern)
    if not wanted or pattern == trimmed(command):
        return Certainty.CERTAIN if pattern in command else Certainty.NO
    lines = _lines(command)
    return Certainty(min(max((line.finds(each) for line in lines), default=_NO) for each in wanted))


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
        self, words: list[SeenWord], places: frozenset[int] | None, *, runs: bool, anything: bool = False
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


def _kind(word: SeenWord) -> int:
    if word.guess.startswith("-"):
        return _OPTION
    if not word.is_computed:
        return _WORD
    return _EMPTY if not word.guess and ANY in word.text else _COMPUTED


@lru_cache(2)
def _lines(command: str) -> tuple[_Line, ...]:
    """Everything in a command line that could be a command, the line in the words' own words included."""
    found: list[_Line] = []
    waiting = [(command, True)]
    if _odd_blank.search(command):
        waiting.append((_odd_blank.sub(" ", command), True))
    budget = 8 * len(command) + 50_000
    known: set[tuple[str, bool]] = set()
    while waiting:
        text, runs = waiting.pop()
        if (text, runs) in known:
            continue
        known.add((text, runs))
        budget -= len(text)
        seen = read_commands(text) if budget >= 0 else Seen(complete=False)
        if not seen.complete:
            return (*found, _Line([], None, runs=True, anything=True))
        waiting += [(comment, False) for comment in seen.texts]
        for one in seen.commands:
            found.append(_line(one, runs))
            waiting += _texts(one, runs)
    return tuple(found)


def _line(command: SeenCommand, runs: bool) -> _Line:
    words, start = command.words, _first(command.words)
    places: frozenset[int] | None = frozenset([start])
    if _is_runner(words, start):
        places = _places(words, start)
        words = _filled(words)
    return _Line(words, places, runs=runs, anything=runs and _reads_commands(command, start))


def _first(words: list[SeenWord]) -> int:
    """Where the program stands: behind words of the shell's grammar and assignments."""
    for at, word in enumerate(words):
        if word.text not in _KEYWORDS and not _assigns(word.text):
            return at
    return len(words)


def _is_runner(words: list[SeenWord], start: int) -> bool:
    return start < len(words) and _name(words[start]) in _RUNNERS


def _places(words: list[SeenWord], start: int) -> frozenset[int] | None:
    """Of `find`, behind an option to run something; of the others, everywhere."""
    if _name(words[start]) not in ("find", "fd", "fdfind"):
        return None
    options = [at for at, word in enumerate(words) if word.guess.startswith(("-exec", "-ok", "-x", "-X", "--exec"))]
    return frozenset([start]) if not options else frozenset([start, *range(options[0], len(words))])


def _filled(words: list[SeenWord]) -> list[SeenWord]:
    """With what a runner puts in: the words it reads, and what it found in the place of `{}`."""
    names = {_name(word) for word in words}
    if not names.isdisjoint(["alias", "hash"]):  # what they name will be given more words
        return [each for word in words for each in (word, _MORE)]
    filled = [_with_input(word, sign) for sign in _places_held(words) for word in words]
    return [*filled, _MORE] if not names.isdisjoint(["xargs", "parallel"]) else filled


def _places_held(words: list[SeenWord]) -> list[str]:
    for at, word in enumerate(words):
        if word.guess in ("-I", "-J", "--replace") and at + 1 < len(words):
            return [words[at + 1].guess]
        if word.guess.startswith(("-I", "-J")):
            return [word.guess[2:]]
        if word.guess.startswith("--replace="):
            return [word.guess.partition("=")[2]]
    return ["{}"]


def _with_input(word: SeenWord, sign: str) -> SeenWord:
    if not sign or sign not in word.text:
        return word
    return SeenWord(word.text.replace(sign, ANY), word.guess.replace(sign, ""), word.globs)


def _reads_commands(command: SeenCommand, start: int) -> bool:
    """Whether it is a shell that runs what another command writes."""
    if not (command.piped or command.reads_output) or not _is_runner(command.words, start):
        return False
    for at in _shells(command.words, start):
        behind = command.words[at + 1 :]
        operands = [each for each in behind if not each.guess.startswith("-")]
        from_input = not operands or any(each.guess == "-s" or _STANDARD_INPUT(each.guess) for each in behind)
        reads_output = command.reads_output and any(each.is_computed for each in operands)
        if reads_output or (from_input and command.piped):
            return True
    return False


def _shells(words: list[SeenWord], start: int) -> list[int]:
    names = [_name(word) for word in words]
    return [
        at for at in range(start, len(words)) if names[at] in (_SHELLS if at == start else _SHELLS - {".", "source"})
    ]


def _texts(command: SeenCommand, runs: bool) -> Iterable[tuple[str, bool]]:
    """What in a command could be read as a command line; with whether it is one for certain."""
    words, start = command.words, _first(command.words)
    is_runner = runs and _is_runner(words, start)
    places = _places(words, start) if is_runner else frozenset[int]()
    for at, word in enumerate(words):
        is_code = places is None or at in places
        for text in {word.text, word.guess}:
            for part in {text, text.partition("=")[2], text[2:] if text.startswith("-") else ""}:
                if _could_be_commands(part) or (is_code and part[:1] in (ANY, SOME)):
                    yield _odd_blank.sub(" ", part.lstrip("!")).replace(SOME, ANY), is_code
    joining = next((at for at, word in enumerate(words) if is_runner and _name(word) in _JOIN_THEIR_WORDS), len(words))
    if joining < len(words):
        yield " ".join(each.text for each in words[joining + 1 :]).replace(SOME, ANY), True
    for text in command.input:
        yield text, is_runner and bool(_shells(words, start))


def _name(word: SeenWord) -> str:
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
        wanted = pattern.words[number]
        onward = _onward(begins, line)
        options = () if number else pattern.options
        behind = [_from_the_end([*_fits(option, line), _NO]) for option in options]
        if wanted == STAR:
            begins = inside = list(map(min, _from_the_end(onward), *behind)) if behind else _from_the_end(onward)
            continue
        rest = onward[1:]
        for each in behind:
            rest = list(map(min, rest, each[1:]))
        here = _fits(wanted, line) if number else fits
        began, within = [*map(min, here, rest), _NO], [_NO] * (count + 1)
        for at in line.many:  # it may be this word of the pattern, and the next ones, and their options
            later = min([max(onward[at + 1], min(_POSSIBLE, inside[at])), *(each[at] for each in behind)])
            began[at], within[at] = min(here[at], later), min(_POSSIBLE, later)
        begins, inside = began, within
    if program == STAR:
        return max(begins)
    if line.places is None:
        return max(begins)
    return max(
        (level for at, level in enumerate(begins[:-1]) if fits[at] == _CERTAIN or at in line.places), default=_NO
    )


def _fits(wanted: str, line: "_Line", *, program: bool = False) -> list[int]:
    known = [_fit(wanted, word, program=program) for word in line.different]
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
def _fit(wanted: str, word: SeenWord, *, program: bool) -> int:
    if any(_is(wanted, form) for form in _forms(word.guess.lower())):
        return _CERTAIN
    if word.globs and (STAR in wanted or any(_globbed(wanted, form) for form in _forms(word.guess.lower()))):
        return _CERTAIN if program else _POSSIBLE
    if ANY in word.text and not program and wanted.startswith("-"):
        return _POSSIBLE
    return _POSSIBLE if word.is_computed and _could_be(wanted, word.text.lower()) else _NO


def _forms(text: str) -> tuple[str, ...]:
    """As it is; without its folder; what is behind `=`; without what git puts before a command of the shell."""
    return (text, _basename(text), text.partition("=")[2] or text, text.lstrip("!"))


def _is(wanted: str, text: str) -> bool:
    if fits_stars(wanted.split(STAR), text):
        return True
    if not wanted.startswith("--") or not text.startswith("--"):
        return False
    name = text.partition("=")[0]
    return len(name) > 2 and wanted.startswith(name)  # programs take the beginning of an option for it


def _globbed(wanted: str, text: str) -> bool:
    """Whether the file pattern could be this name. A long one is not looked at closely."""
    if len(text) > 200 or text.count("*") > 8:
        return True
    return fnmatchcase(wanted, text)


def _could_be(wanted: str, text: str) -> bool:
    """Whether what stands before and behind what is computed agrees with the pattern."""
    text = _basename(text) if "/" in text and "/" not in wanted else text
    parts = re.split(f"[{ANY}{SOME}]", text)
    before, behind = parts[0], "" if ANY in text else parts[-1]  # the end may be that of a later word
    if STAR not in wanted:
        return wanted.startswith(before) and wanted.endswith(behind) and len(before) + len(behind) <= len(wanted)
    beginning, ending = wanted.split(STAR)[0], wanted.split(STAR)[-1]
    return _agree(before, beginning) and _agree(behind[::-1], ending[::-1])


def _agree(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one)
