"""Taking a command line apart the way bash does, for rules that deny: every command in it, each as its words.

Rules:

- A word is one word however it is quoted, escaped or joined. What a shell puts in its place while it runs (a variable,
  a substitution) is `SOME` where that is part of one word and `ANY` where it may be any number of words.
- Commands are found behind every operator, in subshells, substitutions, functions, arrays and here-documents. Redirects
  stand between words and are none. Braces are expanded.
- A backslash at the end of a line is nothing, wherever it stands outside quotes: in an operator too.
- Reading is one pass. What is nested too deep, or expands to too much, is not complete: the caller cannot be certain.
"""

import posixpath
import re
from collections.abc import Iterator

import msgspec

ANY, SOME = "\0", "\1"
"""Stand in a word's text for what is computed: one that may be several words, and one that is part of a word."""
STAR = "\2"
"""Stands in a pattern for a star that is not quoted."""

_DEEPEST = 40
_LONGEST_BRACED, _MOST_BRACES, _MOST_WORDS = 4096, 100, 64
_blank = re.compile(r"(?:[ \t]|\\\n)*").match
_simple = re.compile(r"[A-Za-z0-9_./:,+@%^=-]+(?=[ \t\n;]|\Z)").match  # nearly all words are
_plain = re.compile(r"[^ \t\n;&|()<>`$\\'\"]+").match
_operator = re.compile(r"[;&|]+").match
_CONTINUED = r"(?:\\\n)*"
_redirect = re.compile(
    rf"(?:(?:[0-9]|\\\n)*[0-9]{_CONTINUED}|\{{[A-Za-z_](?:[A-Za-z0-9_]|\\\n)*(?:\[[^]\s]*\])?{_CONTINUED}\}}{_CONTINUED})?"
    rf"(?:&{_CONTINUED}>(?:{_CONTINUED}>)?|<{_CONTINUED}<{_CONTINUED}<|<{_CONTINUED}<(?:{_CONTINUED}-)?"
    rf"|[<>]{_CONTINUED}&|<{_CONTINUED}>|>{_CONTINUED}>|>{_CONTINUED}\||[<>](?!{_CONTINUED}\())"
).match
_process = re.compile(rf"[<>]{_CONTINUED}\(").match
_name = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!_-]").match
_parameter = re.compile(r"[!#]?(?:[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?$!-])(\[[@*]\])?(?::?[-=+])?").match
_escape = re.compile(
    r"\\(?:x\{([0-9A-Fa-f]{1,8})\}|x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})"
    r"|([0-7]{1,3})|c(.)|(.))",
    re.DOTALL,
)
_old_arithmetic = re.compile(r"\$\[[A-Za-z0-9_ \t+*/%-]*\]").match
_in_ansi_quotes = re.compile(r"(?:[^'\\]|\\.)*", re.DOTALL).match
_in_quotes = re.compile(r'[^"$`\\]+').match
_in_braces = re.compile(r"[^}'\"$`\\]+").match
_LETTERS = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "a": "\a",
    "b": "\b",
    "e": "\N{ESCAPE}",
    "E": "\N{ESCAPE}",
    "f": "\f",
    "v": "\v",
}


class _Computed(msgspec.Struct, frozen=True):
    sign: str  # ANY or SOME
    guess: str = ""  # what it is when the variable has no value


class _Quoted(msgspec.Struct, frozen=True):
    text: str


_Piece = str | _Quoted | _Computed
_BREAK = _Computed(ANY, " ")  # `$IFS`: a word ends here


class ShellWord(msgspec.Struct, frozen=True):
    """`text` has signs for what is computed; `guess` has what stands there if nothing has a value. `globs`: a file
    pattern, not quoted."""

    text: str
    guess: str
    globs: bool = False

    @property
    def is_computed(self) -> bool:
        return ANY in self.text or SOME in self.text


class ShellReadCommand(msgspec.Struct):
    """`piped`: its input is the output of another. `input`: what here-documents and here-strings give it.
    `reads_file`: its input is a file that is named. `reads_output`: it is given the output of another as a file,
    `<(…)`, or what is open already, `<&3`."""

    words: list[ShellWord] = []
    piped: bool = False
    input: list[str] = []
    reads_file: bool = False
    reads_output: bool = False


class ShellReading(msgspec.Struct):
    """`texts`: what else could be read as a command line (comments). `feeds`: something in it gives input to something
    else, be it a command, a group or a function: a pipe, a redirect of what is not a file, a here-document."""

    commands: list[ShellReadCommand] = []
    texts: list[str] = []
    complete: bool = True
    feeds: bool = False


_open_file = re.compile(r"-|(?:.*/)?(?:stdin|fd/.*|[0-9]+)|/dev/(?!null$|zero$).*|/proc/.*", re.DOTALL).fullmatch


def is_open_already(path: str) -> bool:
    """Whether a path could be the standard input or another file that is open, and not one on the disk."""
    return _open_file(posixpath.normpath(path).replace("//", "/")) is not None


def read_commands(text: str) -> ShellReading:
    """Every command of a command line."""
    reader = _Reader(text)
    reader.script()
    return reader.seen


def pattern_words(text: str) -> list[list[str]]:
    """The commands of a pattern, their words with `STAR` where a star stands; none where anything in it is computed."""
    reader = _Reader(text, stars=True)
    reader.script()
    words = [[word.text for word in command.words] for command in reader.seen.commands if command.words]
    return [] if any(ANY in word or SOME in word for each in words for word in each) else words


class _Heredoc(msgspec.Struct):
    end: str
    strips: bool
    quoted: bool
    command: ShellReadCommand


class _Reader:
    """One pass over a text. `stars`: it is a pattern, in which a star means something and braces do not."""

    def __init__(self, text: str, *, stars: bool = False) -> None:
        self.text = text
        self.at = 0
        self.seen = ShellReading()
        self._stars = stars
        self._depth = 0
        self._arithmetic = 0
        self._cases = 0
        self._heredocs: list[_Heredoc] = []
        self._command = ShellReadCommand()

    def script(self, closing: str = "", *, piped: bool = False) -> None:
        """Commands up to what closes them, or the end."""
        outer, self._command = self._command, ShellReadCommand(piped=piped)
        cases, self._cases = self._cases, 0
        self._depth += 1
        if self._depth > _DEEPEST:
            self.seen.complete = False
            self.at = len(self.text)
        while self.at < len(self.text):
            if self._step(closing):
                break
        self._end_command()
        self._depth -= 1
        self._command, self._cases = outer, cases

    def _step(self, closing: str) -> bool:
        """One token. Whether it was the closing one."""
        text = self.text
        self.at = _end(_blank(text, self.at))
        if self.at >= len(text):
            return False
        character = text[self.at]
        if (simple := _simple(text, self.at)) is not None:
            self.at = simple.end()
            self._command.words.append(ShellWord(simple[0], simple[0]))
        elif character == "\n":
            self.at += 1
            self._end_command()
            self._read_heredocs()
        elif character == "#":
            self._comment()
        elif (redirect := _redirect(text, self.at)) is not None:
            self._redirected(redirect[0])
        elif character in ";&|":
            operator = _operator(text, self.at)
            self.at = _end(operator)
            pipes = operator is not None and operator[0] in ("|", "|&")
            self.seen.feeds |= pipes
            self._end_command(pipes=pipes)
        elif character == ")":
            self.at += 1
            words = [word.text for word in self._command.words[:4]]
            if words[:1] == ["esac"]:
                self._end_command()
            begins = words[:1] == ["case"] and "in" in words[2:]
            self._cases += begins
            self._end_command()
            return bool(closing) and not (begins or self._cases)  # that of a pattern of `case` closes nothing
        elif character == "(":
            self._group()
        else:
            self._command.words.extend(self._word())
        return False

    def _end_command(self, *, pipes: bool = False) -> None:
        """What stands behind a pipe may be a group: all that follows counts as behind it."""
        command = self._command
        if self._cases and command.words and command.words[0].text == "esac":
            self._cases -= 1
        if command.words or command.input:
            self.seen.commands.append(command)
        self._command = ShellReadCommand(piped=command.piped or pipes)

    def _comment(self) -> None:
        end = self.text.find("\n", self.at)
        end = len(self.text) if end < 0 else end
        self.seen.texts.append(self.text[self.at + 1 : end])
        self.at = end

    def _group(self) -> None:
        """A subshell, the parentheses of a function, or arithmetic."""
        piped = self._command.piped
        self._end_command()
        is_arithmetic = self.text.startswith("((", self.at)
        self._arithmetic += is_arithmetic
        self.at += 1
        self.script(")", piped=piped)
        self._arithmetic -= is_arithmetic

    def _redirected(self, operator: str) -> None:
        self.at += len(operator)
        sign = operator.replace("\\\n", "").lstrip("0123456789").rpartition("}")[2]
        self.at = _end(_blank(self.text, self.at))
        command = self._command
        self.seen.feeds |= sign.startswith("<<")
        if sign in ("<<", "<<-") and not self._arithmetic:
            began = self.at
            delimiter = "".join(word.guess for word in self._word())
            quoted = not {"'", '"', "\\"}.isdisjoint(self.text[began : self.at])
            self._heredocs.append(_Heredoc(delimiter, sign == "<<-", quoted, command))
        else:
            words = self._word()
            if sign == "<<<":
                command.input.extend(word.text for word in words)
            elif sign in ("<", "<>", "<&"):
                is_known = sign != "<&" and not any(word.is_computed or is_open_already(word.text) for word in words)
                command.reads_file |= is_known
                command.reads_output |= not is_known
                self.seen.feeds |= not is_known

    def _read_heredocs(self) -> None:
        pending, self._heredocs = self._heredocs, []
        for heredoc in pending:
            body = self._heredoc_body(heredoc)
            if not heredoc.quoted:
                inside = _Reader(body)
                inside._depth = self._depth
                body = inside.expanded()
                self._take(inside)
            heredoc.command.input.append(body)
            if not heredoc.command.words:
                self.seen.texts.append(body)

    def _heredoc_body(self, heredoc: _Heredoc) -> str:
        lines: list[str] = []
        while self.at < len(self.text):
            end = self.text.find("\n", self.at)
            end = len(self.text) if end < 0 else end
            line = self.text[self.at : end]
            self.at = end + 1
            line = line.lstrip("\t") if heredoc.strips else line
            if line == heredoc.end:
                break
            if self._depth > 1 and line.startswith(f"{heredoc.end})"):  # bash takes it for the end of both
                self.at = end - len(line) + len(heredoc.end)
                break
            lines.append(line)
        self.at = min(self.at, len(self.text))
        return "\n".join(lines) + "\n"

    def expanded(self) -> str:
        """All of the text, its expansions replaced by signs, as in a here-document."""
        pieces = self._quoted_pieces('"', closes=False)
        return "".join(map(_text_of, pieces))

    def _word(self) -> list[ShellWord]:
        """The word here; several when something in it separates or braces expand, none where nothing is."""
        pieces: list[_Piece] = []
        while self.at < len(self.text) and (piece := self._piece(pieces)) is not None:
            pieces.extend(piece)
        return list(_words_of(pieces, stars=self._stars)) if pieces else []

    def _piece(self, before: list[_Piece]) -> list[_Piece] | None:
        """What comes next in a word; None at its end."""
        text, character = self.text, self.text[self.at]
        if (plain := _plain(text, self.at)) is not None:
            self.at = plain.end()
            return [plain[0]]
        match character:
            case "\\":
                self.at += 2
                return [] if text[self.at - 1 : self.at] == "\n" else [_Quoted(text[self.at - 1 : self.at])]
            case "'":
                end = text.find("'", self.at + 1)
                end = len(text) if end < 0 else end
                inside, self.at = text[self.at + 1 : end], end + 1
                return [_Quoted(inside)]
            case '"':
                self.at += 1
                return [_Quoted(""), *self._quoted_pieces('"')]
            case "$":
                return self._dollar(quoted=False)
            case "`":
                return [self._backticks(ANY)]
            case "<" | ">" if (process := _process(text, self.at)) is not None:
                self.at = process.end()
                self._command.reads_output = self.seen.feeds = True
                self.script(")", piped=character == ">")
                return [_Computed(SOME)]
            case "(" if before and isinstance(before[-1], str) and before[-1][-1:] in tuple("@?*+!="):
                is_array = before[-1].endswith("=")  # else a file pattern of bash's own
                before[-1] = before[-1] if is_array else before[-1][:-1]
                self.at += 1
                self.script(")")
                return [_Quoted("")] if is_array else [_Computed(ANY)]
        return None

    def _quoted_pieces(self, closing: str, *, closes: bool = True) -> Iterator[_Piece]:
        """Up to the closing quote; what is never closed extends to the end."""
        text = self.text
        plain = _in_quotes if closing == '"' else _in_braces
        while self.at < len(text):
            found = plain(text, self.at)
            character = text[self.at]
            if found is not None:
                self.at = found.end()
                yield _Quoted(found[0])
            elif character == closing and closes:
                self.at += 1
                return
            elif character == "\\":
                following = text[self.at + 1 : self.at + 2]
                self.at += 2
                if following != "\n":
                    yield _Quoted(following if following in tuple('$`"\\') or closing == "}" else f"\\{following}")
            elif character == "$":
                yield from self._dollar(quoted=True)
            elif character == "`":
                yield self._backticks(SOME)
            elif closing == "}" and character in "'\"":
                yield from self._piece([]) or []
            else:
                self.at += 1
                yield _Quoted(character)

    def _dollar(self, *, quoted: bool) -> list[_Piece]:
        text, sign = self.text, SOME if quoted else ANY
        while text.startswith("\\\n", self.at + 1):
            self.at += 2
        following = text[self.at + 1 : self.at + 2]
        if following == "'" and not quoted:
            found = _in_ansi_quotes(text, self.at + 2)
            self.at = _end(found) + 1
            return [_Quoted(ansi_unescaped(found[0] if found else ""))]
        if following == '"' and not quoted:
            self.at += 2
            return [_Quoted(""), *self._quoted_pieces('"')]
        if following == "(":
            is_arithmetic = text.startswith("((", self.at + 1)
            self._arithmetic += is_arithmetic
            self.at += 2
            self.script(")", piped=self._command.piped)
            self._arithmetic -= is_arithmetic
            return [_Computed(sign)]
        if following == "{":
            return self._braced(sign)
        if (arithmetic := _old_arithmetic(text, self.at)) is not None:
            self.at = arithmetic.end()
            return [_Computed(sign)]
        name = _name(text, self.at + 1)
        if name is None:
            self.at += 1
            return [_Quoted("$")]
        self.at = name.end()
        if name[0] == "IFS" and not quoted:
            return [_BREAK]
        return [_Computed(ANY if name[0] == "@" else sign)]

    def _braced(self, sign: str) -> list[_Piece]:
        """`${…}`: its value, or what stands in it for when there is none."""
        self.at += 2
        self._depth += 1
        if self._depth > _DEEPEST:
            self.seen.complete = False
            self.at = len(self.text)
        begin = self.at
        head = _parameter(self.text, self.at)
        if head is not None:
            self.at = head.end()
        inside = "".join(piece.guess if isinstance(piece, _Computed) else _text_of(piece) for piece in self._inside())
        self._depth -= 1
        name = head[0] if head is not None else self.text[begin : begin + 1]
        if name.startswith("IFS") and sign == ANY:
            return [_BREAK]
        if self.text.endswith("@P}", begin, self.at):  # its value is read as a prompt, commands in it are run
            self.seen.complete = False
        many = sign == ANY or "@" in name
        return [_Computed(ANY if many else SOME, inside if name.endswith(("-", "=", "+")) else "")]

    def _inside(self) -> list[_Piece]:
        return list(self._quoted_pieces("}"))

    def _backticks(self, sign: str) -> _Computed:
        """In double quotes, a backslash before a quote belongs to the quotes around."""
        end = self.at + 1
        while end < len(self.text) and self.text[end] != "`":
            end += 2 if self.text[end] == "\\" else 1
        escaped = r'\\([$`\\"])' if sign == SOME else r"\\([$`\\])"
        inside = re.sub(escaped, r"\1", self.text[self.at + 1 : end])
        self.at = end + 1
        reader = _Reader(inside)
        reader._depth = self._depth
        reader.script(piped=self._command.piped)
        self._take(reader)
        return _Computed(sign)

    def _take(self, inside: "_Reader") -> None:
        """What another reader saw in a part of this text."""
        self.seen.commands += inside.seen.commands
        self.seen.texts += inside.seen.texts
        self.seen.complete &= inside.seen.complete
        self.seen.feeds |= inside.seen.feeds


def ansi_unescaped(text: str) -> str:
    """What bash makes of the inside of `$'…'`; it ends where a zero byte is made."""
    return _escape.sub(_one_unescaped, text).partition("\0")[0]


def _one_unescaped(match: "re.Match[str]") -> str:
    hexadecimal = match[1] or match[2] or match[3] or match[4]
    if hexadecimal is not None:
        number = int(hexadecimal, 16)
        return chr(number) if number < 0x110000 else ""
    if match[5] is not None:
        return chr(int(match[5], 8) & 0xFF)
    if match[6] is not None:
        return chr(ord(match[6]) & 0x1F)
    return _LETTERS.get(match[7], match[7] if match[7] in tuple("\\'\"?") else match[0])


def _end(match: "re.Match[str] | None") -> int:
    assert match is not None
    return match.end()


def _text_of(piece: _Piece) -> str:
    match piece:
        case _Computed(sign=sign):
            return sign
        case _Quoted(text=text):
            return text
    return piece


def _words_of(pieces: list[_Piece], *, stars: bool) -> Iterator[ShellWord]:
    part: list[_Piece] = []
    for piece in [*pieces, _BREAK]:
        if piece is not _BREAK:
            part.append(piece)
        elif part:
            has_braces = any(isinstance(each, str) and "{" in each for each in part)
            words = _without_braces(part) if has_braces else [part]
            # `{a,}` is one word: of nothing at all, not even quotes, there is no word.
            yield from (_one_word(word, stars=stars) for word in words if any(word))
            part = []


def _one_word(pieces: list[_Piece], *, stars: bool) -> ShellWord:
    bare = [piece for piece in pieces if isinstance(piece, str)]
    if not stars and bare and pieces[0] is bare[0] and bare[0].startswith("~") and "/" not in bare[0]:
        pieces = [_Computed(SOME, bare[0]), *pieces[1:]]  # the home folder is the value of a variable
    if stars:
        text = "".join(re.sub(r"\*+", STAR, each) if isinstance(each, str) else _text_of(each) for each in pieces)
        return ShellWord(text, text)
    text = "".join(map(_text_of, pieces))
    guess = "".join(piece.guess if isinstance(piece, _Computed) else _text_of(piece) for piece in pieces)
    return ShellWord(text, guess, any(not set("*?[").isdisjoint(each) for each in bare))


class _TooMuch(Exception):
    pass


def _without_braces(pieces: list[_Piece]) -> list[list[_Piece]]:
    """The words that braces expand to; one that may be anything, where they are too many."""
    atoms = [atom for piece in pieces for atom in (piece if isinstance(piece, str) else [piece])]
    try:
        if len(atoms) > _LONGEST_BRACED or sum(1 for atom in atoms if atom == "{") > _MOST_BRACES:
            raise _TooMuch
        return _expansions(atoms)
    except (_TooMuch, RecursionError):
        return [[_Computed(ANY)]]


def _expansions(atoms: list[_Piece]) -> list[list[_Piece]]:
    for at, atom in enumerate(atoms):
        if atom == "{" and (found := _alternatives(atoms, at)) is not None:
            inner, end = found
            inside = [each for alternative in inner for each in _expansions(alternative)]
            behind = _expansions(atoms[end:])
            if len(inside) * len(behind) > _MOST_WORDS:
                raise _TooMuch
            return [[*atoms[:at], *each, *rest] for each in inside for rest in behind]
    return [atoms]


def _alternatives(atoms: list[_Piece], at: int) -> tuple[list[list[_Piece]], int] | None:
    """What stands between the commas of the braces that open here, and where these end."""
    depth, parts, part = 0, [], list[_Piece]()
    for index in range(at, len(atoms)):
        atom = atoms[index]
        if atom == "{":
            depth += 1
            if depth == 1:
                continue
        elif atom == "}":
            depth -= 1
            if depth == 0:
                parts.append(part)
                text = "".join(map(_text_of, part))
                sequence = len(parts) == 1 and ".." in text
                if sequence:
                    return [[_Computed(SOME)]], index + 1
                return (parts, index + 1) if len(parts) > 1 else None
        elif atom == "," and depth == 1:
            parts.append(part)
            part = []
            continue
        part.append(atom)
    return None
