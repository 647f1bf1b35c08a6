"""Permission rules against bash itself: generated command lines are run by a real bash, and what ran is compared with
what the rules said. `python -m sightline.testing.rules_against_bash --count 200000 --seed 1`

Rules:

- Bash runs in bubblewrap, in a folder it cannot write to, with a PATH of stubs that write their name and arguments to a
  log, and of a few real programs that run others (`env`, `xargs`, `sh`).
- Allowing: when rules allow a line, each stub that ran is one that a rule allows by what it was really given.
- Exactness: when the rule suggested for one line allows another, both ran the same, but for what a rule covers around a
  command: harmless variables, and filters of its output.
- Prefixes: when the rule offered for a line with any arguments allows a line, each stub that ran begins with its words.
- What a stub was run with counts, too: a variable that is not harmless, a filter that reads a file, a redirect that
  writes one are things that ran.
- Denying: when a stub ran what a rule denies, the policy denied the line or asked about it, at the level `full`.
- A line is a random sentence of a grammar, and often changed afterwards in a few characters. The seed makes it again.
"""

import argparse
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

import msgspec

from sightline.settings import Policy, parse_rule
from sightline.settings.rules._prefix import prefix_rule
from sightline.settings.rules._rules import allows_command, suggest

STUBS = ("git", "make", "rm", "ls", "npm")
FILTERS = ("head", "tail", "wc")
VARIABLES = ("CI", "NO_COLOR", "LANG", "TZ", "NODE_ENV", "GIT_SSH", "MAKEFLAGS")
RUNNERS = (
    "env",
    "xargs",
    "nohup",
    "timeout",
    "nice",
    "setsid",
    "stdbuf",
    "find",
    "sh",
    "bash",
    "cat",
    "tee",
    "prlimit",
)
FILES = ("push", "status", "-rf", "a b", "x.py", "~", "*", "clean")
_BATCH = 200
_PATIENCE = 10.0  # seconds without a new line
_WITHOUT_FUNCTIONS = 10  # every tenth batch

_LOGGED = " ".join(f'"${{{name}+{name}=${name}}}"' for name in VARIABLES)
_STUB = f"""#!/bin/sh
printf '%s\\0' "$#" "${{0##*/}}" "$@" {_LOGGED} >&9
"""
_DRIVER = r"""
n=0
while IFS= read -r -d '' line <&7; do
  printf '%s\0' line "$n" >&9
  seen=$( exec 8>&1 7<&- >/dev/null 2>&1 </dev/null; eval -- "$line" )
  if [ -e '/tmp/o p' ]; then printf '%s\0' writes >&9; /bin/rm -rf '/tmp/o p'; fi
  n=$((n + 1))
done
printf '%s\0' line end >&9
"""
# To start a program takes most of the time: what the shell itself runs is a function in most batches.
_FUNCTIONS = "".join(
    f"{name}() {{ printf '%s\\0' $# {name} \"$@\" {_LOGGED} >&9; }}; export -f {name}; " for name in (*STUBS, *FILTERS)
)

Ran = tuple[str, ...]
"""A program's name and its arguments; `=` and a variable that it was given; `>` and a file that was written."""


class Case(msgspec.Struct, frozen=True):
    line: str
    other: str  # the same, spelled differently or changed
    allow: tuple[str, ...]
    deny: tuple[str, ...]


class Finding(msgspec.Struct, frozen=True):
    kind: str
    line: str
    rules: tuple[str, ...]
    ran: tuple[Ran, ...]


class Report(msgspec.Struct):
    """`decided`: lines that the rules allowed, that a suggested rule allowed as another, that one with any
    arguments allowed, that were denied or asked."""

    lines: int = 0
    programs: int = 0
    lost: int = 0  # lines that took too long
    allowed: int = 0
    alike: int = 0
    prefixed: int = 0
    refused: int = 0
    findings: list[Finding] = []


ALLOW = (
    "exec(git status)", "exec(git push *)", "exec(git * --oneline)", "exec(git *)", "exec(make)", "exec(make *)",
    "exec(ls *)", "exec(rm '*')", "exec(rm '~')", "exec(rm -rf 'a b')", "exec(ls x*)", "exec(ls *.py) exactly",
    "exec(npm run *)", "exec(make && git status)", "exec(rm x.py)", "exec(ls '[a-z]*')", "exec(npm test *)",
    "exec(git status *)",
)  # fmt: skip
DENY = (
    "exec(git push)", "exec(git push --force)", "exec(rm)", "exec(rm -rf)", "exec(make clean)", "exec(git -C * push)",
    "exec(npm run *)", "exec(git)", "exec(npm run build)", "exec(make)",
)  # fmt: skip
_WORDS = {
    "git": ("push", "status", "log", "--force", "--oneline", "origin", "-f", "push", "clean", "a=b"),
    "make": ("clean", "all", "-j", "CC=gcc", "clean"),
    "rm": ("-rf", "-r", "*", "~", "a b", "x.py", "x?py", "-f", "--", "[a-z]*", "a=~"),
    "ls": ("*", "*.py", "x.py", "-l", "~", "{a,b}", "a b", "[a-z]*"),
    "npm": ("run", "build", "test", "run", "--silent", "install"),
}
_OPTIONS = {
    "git": ("-C 'my repo'", "-c user.name='CI Bot'", "--git-dir=x", "--no-pager", "-c a=b", "-C ."),
    "npm": ("--prefix 'a b'", "--silent", "--loglevel=warn"),
    "make": ("-C 'a b'", "-j 4", "--silent"),
    "rm": ("-v", "--interactive=never"),
    "ls": ("-l",),
}
_VALUES = frozenset({"-C", "-c", "--prefix", "-j"})


_PIECES = (
    *";&|(){}$`'\"\\\n \t#!<>=~*?[],%^/:\r\x0b\xa0é\u2028",
    "\\\n", "$(", "${", "$'", "<<", "&&", "||", "..", "2>", "<(",
    "@(", "git push", " rm ", "make", ";make;", "-rf", "--force", "+=", "[0]=",
)  # fmt: skip
_REDIRECTS = (
    " >/dev/null", " 2>&1", " </dev/null", " 2>/dev/null", " >|/dev/null", " &>/dev/null", " <<<x", " {fd}>/dev/null",
    " 2> /dev/null", " >/tmp/'o p'", " >&2", " <<<'a b'", " > /dev/null 2>&1", " {fd[0]}>/dev/null", " 1\\\n>/dev/null",
    " >\\\n|/dev/null", " &\\\n>/dev/null", " <&-", " 3<&0", " < <(:)", " > >(cat)", " >\"$(echo /dev/null)\"",
    " >${u:-/dev/null}", " {fd}\\\n>/dev/null", " <\\\n<\\\n<x",
)  # fmt: skip


_BEFORE = (
    "CI=1", "CI=true NO_COLOR=1", "NODE_ENV=test", "TZ=Europe/Berlin", "LANG=C.UTF-8", "CI=", "CI='1'", 'CI="1"',
    "NODE_ENV=production", "TZ=/etc/passwd", "LANG=../x", "GIT_SSH=rm", "MAKEFLAGS=-f", "CI=$(git push)", "CI=~",
    "CI=*", "CI+=1", "CI[0]=1", "CI=1;", "CI=1 &&", "export CI=1;", "env CI=1", "CI=1 GIT_SSH=rm", "GIT_SSH=rm CI=1",
    "C\\I=1", "CI=a b", "CI={a,b}", "CI=$u", "TZ=UTC CI=`rm x.py`", "CI=1\n", "\"CI=1\"", "CI=\\\n1", "CI=$'\\x31'",
    "CI=a:b",
)  # fmt: skip
_BEHIND = (
    "| tail -20", "2>&1 | tail -n 20", "| head", "| head -c 100", "| wc -l", "|tail -n+3", ">/dev/null 2>&1 | wc",
    "| tail -n5 | head -1", "| tail -f", "| tail x.py", "| tail -n 5 x.py", "| wc -l x.py", "| head -- x.py",
    "| tail -20 *", "| tail $(git push)", "| tail <x.py", "| tail >/tmp/'o p'", "| tail --follow=name",
    "| tail --pid=1", "| wc --files0-from=x", "| tail -n 5 -", "| 'tail' -20", "| tail -2\\\n0", "& tail",
    "; tail x.py", "|| tail", "|& tail -3", "| tail -20 ;rm x.py", "| tail -{20,x.py}", "| tail -n $u",
    "| bin/tail -3", "| CI=1 tail", "| tail -c +10k", "| tail -20 | rm -rf", ">&2 | tail", "2>/tmp/'o p' | tail",
    "| head -n -3", "| tail -n ~", "| wc '-l'", "| tail -20 # x.py", "| tail -s 1", "| tail -z",
)  # fmt: skip


class Sentences:
    """A grammar of command lines, spoken at random."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._depth = 0

    def case(self) -> Case:
        simple = self._random.random() < 0.45
        line = self._prefixed() if self._chance(0.05) else self._plain_line() if simple else self.line()
        other = self._plain_line() if self._random.random() < 0.2 else self._spelled_again(line)
        if self._chance(0.4 if simple else 0.1):
            line = self._wrapped(line)
        if self._chance(0.3):
            other = self._wrapped(other)
        if self._random.random() < 0.35:
            line = self._changed(line)
        if self._random.random() < 0.5:
            other = self._changed(other)
        allow = self._random.sample(ALLOW, self._random.randint(1, 4))
        deny = self._random.sample(DENY, self._random.randint(1, 2))
        return Case(line, other, tuple(allow), tuple(deny))

    def line(self) -> str:
        self._depth += 1
        made = self._compound() if self._depth < 4 and self._chance(0.75) else self._simple()
        self._depth -= 1
        return made

    def _plain_line(self) -> str:
        """One that is understood more often than not."""
        parts = []
        for _ in range(self._random.choice((1, 1, 1, 2, 3))):
            program = self._random.choice(STUBS)
            words = self._random.choices(_WORDS[program], k=self._random.randint(0, 3))
            parts.append(" ".join([program, *(self._quoted(word) for word in words)]))
        return self._random.choice((" && ", " || ", "; ", " | ", ";", "|", "&&")).join(parts)

    def _prefixed(self) -> str:
        """One that a rule with any arguments is offered for."""
        begins = self._random.choice(("npm test", "npm run build", "git status", "git log", "git add"))
        return " ".join(
            [begins, *self._random.choices(("-v", "x.py", "push", "--", "a=b"), k=self._random.randint(0, 3))]
        )

    def _wrapped(self, line: str) -> str:
        """As models write it: variables before it, and its output cut."""
        before = f"{self._random.choice(_BEFORE)} " if self._chance(0.6) else ""
        return before + line + (f" {self._random.choice(_BEHIND)}" if self._chance(0.6) else "")

    def _quoted(self, word: str) -> str:
        return self._random.choice((word, word, shlex.quote(word), f'"{word}"', f"'{word}'"))

    def _spelled_again(self, line: str) -> str:
        """Other quotes, other blanks."""
        changes: tuple[Callable[[str], str], ...] = (
            lambda text: text.replace("'", '"'),
            lambda text: text.replace('"', "'"),
            lambda text: text.replace("'", "").replace('"', ""),
            lambda text: text.replace(" ", "  ", 1),
            lambda text: text.replace(" ", "\t", 1),
            lambda text: text.replace("push", "'push'", 1),
            lambda text: text.replace("*", "'*'", 1),
            lambda text: text.replace("~", "'~'", 1),
            lambda text: f" {text} ",
            lambda text: text,
        )
        return self._random.choice(changes)(line)

    def _changed(self, line: str) -> str:
        """A few characters more, less or others."""
        for _ in range(self._random.randint(1, 3)):
            at = self._random.randint(0, len(line))
            more = self._random.choice(_PIECES)
            line = line[:at] + more + line[at + self._random.choice((0, 0, 1, 2)) :]
        return line

    def _chance(self, share: float) -> bool:
        return self._random.random() < share

    def _simple(self) -> str:
        program = self._random.choice(STUBS)
        words = [program]
        if self._chance(0.4):
            words += [self._random.choice(_OPTIONS[program]) for _ in range(self._random.randint(1, 3))]
        words += [self._disguised(word) for word in self._random.choices(_WORDS[program], k=self._random.randint(0, 4))]
        words[0] = self._program(program)
        if self._chance(0.1) and len(words) > 1 and not any(set(" '\"$`\\") & set(word) for word in words):
            words = ["{" + ",".join(words) + "}"]
        prefix = (
            self._random.choice(("A=b ", "A=b C='d e' ", "! ", "time ", ">/dev/null ", "")) if self._chance(0.2) else ""
        )
        return prefix + self._joined(words)

    def _joined(self, words: Iterable[str]) -> str:
        line = ""
        for word in words:
            line += (self._blank() if line else "") + word
        return line + (self._redirect() if self._chance(0.15) else "")

    def _blank(self) -> str:
        if self._chance(0.85):
            return " "
        return self._random.choice(
            ("\t", "  ", " \\\n ", "\\\n ", self._redirect() + " ", "$IFS", "${IFS}", " $u ", " ${u} ")
        )

    def _redirect(self) -> str:
        return self._random.choice(_REDIRECTS)

    def _program(self, name: str) -> str:
        if self._chance(0.6):
            return name
        forms = [
            f"./bin/{name}",
            f"bin/{name[:-1]}?",
            f"bin/{name[0]}*{name[-1]}",
            f"\\{name}",
            f"bin/[{name[0]}]{name[1:]}",
            f"bin/{name[:-1]}[[:lower:]]",
            f"bin/[^_]{name[1:]}",
            f"bin/[!_]{name[1:]}",
            f"./b*/{name}",
            f"{{bin/{name},-v}}",
        ]
        return self._random.choice([*forms, self._disguised(name), self._disguised(name), f"~+/bin/{name}"])

    def _disguised(self, word: str) -> str:
        if self._chance(0.6):
            return word
        half = self._random.randint(0, len(word))
        one, two = word[:half], word[half:]
        octal = "".join(f"\\{ord(character):o}" for character in word)
        hexadecimal = "".join(f"\\x{ord(character):02x}" for character in word)
        forms = (
            f"'{word}'", f'"{word}"', f"{one}''{two}", f'"{one}"{two}', f"{one}'{two}'", f"{one}\\\n{two}", f"\\{word}",
            f"$'{octal}'", f"$'{hexadecimal}'", f'$"{word}"', f"{one}$u{two}", f"{one}${{u}}{two}", f"${{u:-{word}}}",
            f"$(echo '{word}')", f"`echo '{word}'`", f"{one}$(){two}", f"{one}$@{two}", f'"${{u:-{word}}}"',
            f"{one}{{{two},}}", f'"$(echo "{word}")"', f"{{{word},}}", f"{one}``{two}", f"${{u-{one}}}{two}",
            f"'{one}'\"{two}\"", f"{one}{{{two},{two}}}", f"{{{word[:1]}..{word[:1]}}}{word[1:]}", f"${{PATH:+{word}}}",
            f"$\\\n{{u-{word}}}", f"\"`echo \\\"{word}\\\"`\"", f"${{u:-\"{word}\"}}", f"${{PATH/*/{word}}}",
        )  # fmt: skip
        return self._random.choice(forms)

    def _compound(self) -> str:
        kinds: tuple[Callable[[], str], ...] = (
            self._list, self._list, self._group, self._runner, self._runner, self._shell, self._shell, self._eval,
            self._heredoc, self._substitution, self._function, self._variable, self._comment, self._branch, self._array,
            self._alias, self._odd, self._fed, self._fed,
        )  # fmt: skip
        return self._random.choice(kinds)()

    def _list(self) -> str:
        sign = self._random.choice((" && ", " || ", "; ", " | ", "\n", " & ", ";", "|", " |& ", "&&", "\n\n", " ;\n"))
        return sign.join(self.line() for _ in range(self._random.randint(2, 3)))

    def _group(self) -> str:
        inside = self.line()
        forms = (
            f"({inside})",
            f"{{ {inside}; }}",
            f"( {inside} )",
            f"{{ {inside}\n}}",
            f"! ({inside})",
            f"(\n{inside}\n)",
        )
        return self._random.choice(forms)

    def _runner(self) -> str:
        command = self._simple()
        forms = (
            f"env {command}", f"env A=b {command}", f"env -i PATH=\"$PATH\" {command}", f"command {command}",
            f"exec {command}", f"nohup {command}", f"timeout 5 {command}", f"nice -n 5 {command}",
            f"xargs {command}", f"echo push | xargs {command}", "echo push | xargs git", "echo git push | xargs env",
            f"setsid {command}", f"stdbuf -o0 {command}", f"command -p {command}",
            f"find . -maxdepth 0 -exec {command} \\;", "find . -maxdepth 1 -name push -exec git -C {} push \\;",
            "echo git | xargs -I X X push", "echo git | xargs -I{} {} push", f"time {command}",
            f"builtin command {command}", f"env -S {shlex.quote(command)}", f"coproc {command}",
            f"exec -a x {command}", f"env -u A {command}", f"exec -ca 'x y' {command}",
            f"prlimit --nofile=99 {command}",
            f"env -S {shlex.quote(command.replace(' ', chr(92) + '_'))}", f"env -vS {shlex.quote(command)}",
            f"env --split-string={shlex.quote(command)}", f"env -S{shlex.quote(command)} x", f"builtin eval {command}",
            "env -S 'git # x' push", "g=git; prlimit --nofile=99 $g push", f"command -p -- env {command}",
            f"xargs -n 1 {command} <<< 'push x'",
        )  # fmt: skip
        return self._random.choice(forms)

    def _shell(self) -> str:
        inside = self.line()
        double = inside.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$").replace("`", "\\`")
        forms = (
            f"sh -c {shlex.quote(inside)}", f"bash -c {shlex.quote(inside)}", f'bash -c "{double}"',
            f"env bash -c {shlex.quote(inside)}", f"echo {shlex.quote(inside)} | sh",
            f"printf '%s\\n' {shlex.quote(inside)} | bash -s", f"bash <<< {shlex.quote(inside)}",
            f"bash -c $'{inside.translate(_ANSI)}'", f"bash <(echo {shlex.quote(inside)})",
            f". <(echo {shlex.quote(inside)})", "bash -c 'git \"$@\"' x push", "bash -c '\"$0\" push' git",
            f"sh -ec {shlex.quote(inside)}", f"bash -c -- {shlex.quote(inside)}",
            f"command sh -c {shlex.quote(inside)}",
        )  # fmt: skip
        return self._random.choice(forms)

    def _eval(self) -> str:
        inside = self.line()
        words = " ".join(map(shlex.quote, inside.split(" ")))
        forms = (
            f"eval {shlex.quote(inside)}", f"eval {words}", f"eval $'{inside.translate(_ANSI)}'",
            f"v={shlex.quote(inside)}; eval \"$v\"", f"eval -- {shlex.quote(inside)}",
            f"trap {shlex.quote(inside)} EXIT", f"eval eval {shlex.quote(shlex.quote(inside))}",
            f"eval \"$(echo {shlex.quote(inside)})\"",
        )  # fmt: skip
        return self._random.choice(forms)

    def _heredoc(self) -> str:
        inside = self.line()
        end = self._random.choice(("EOF", "'EOF'", '"EOF"', "\\EOF"))
        forms = (
            f"bash <<{end}\n{inside}\nEOF", f"cat <<{end}\n{inside}\nEOF",
            f"sh <<-{end}\n\t{inside}\n\tEOF\n{self.line()}", f"cat <<{end} | sh\n{inside}\nEOF",
            f"cat <<EOF\nit's $({inside})\nEOF", f"cat <<A <<B\n{inside}\nA\nx\nB\n{self.line()}",
            f"cat <<EOF\n`{self._simple()}`\nEOF\n{self.line()}", f"(cat <<EOF\nx'\nEOF\n); {inside}",
        )  # fmt: skip
        return self._random.choice(forms)

    def _substitution(self) -> str:
        inside = self.line()
        forms = (
            f"echo $({inside})", f"echo `{self._simple()}`", f'echo "a $({inside}) b"', f"cat <({inside})",
            f": ${{u:-$({inside})}}", f"echo >(cat) $( {inside} )", f"echo $(( $({inside}) 1 + 2 ))",
            f'echo "${{u:-"$({inside})"}}"', f"a=$({inside})", f"[[ -n $({inside}) ]]",
            f"echo $(echo ')' ; {inside})", f"echo $(# it's\n{inside})", f"(( $({inside}) 1 ))",
            f"echo $(case x in x) {inside};; esac)", f": <<< \"$({inside})\"", f"cat < <({inside})",
            f"cat > >({inside})",
        )  # fmt: skip
        return self._random.choice(forms)

    def _function(self) -> str:
        inside = self.line()
        forms = (
            f"f() {{ {inside}; }}; f", f"function f {{ {inside}\n}}\nf", f"f() ( {inside} )\nf",
            "f() { git \"$@\"; }; f push", 'f() { "$@"; }; f git push', f"g() {{ {inside}; }}; env; g",
            "git() { command git push; }; git status",
        )  # fmt: skip
        return self._random.choice(forms)

    def _variable(self) -> str:
        forms = (
            "g=git; $g push", 'g=git; "$g" push', "p=push; git $p", "v='git push'; $v", "g=gi; ${g}t push",
            "a=(git push); \"${a[@]}\"", "set -- git push; \"$@\"", "set -- git; \"$1\" push",
            "read -r a b <<< 'git push'; $a $b", "printf -v x %s git; $x push", "v=rm; $v -rf x", "v=-rf; rm $v",
            "IFS=_; v=git_push; $v", "x=sh; git pu$x", "g=GIT; ${g,,} push", "declare g=git; $g push",
            "for x in git; do $x push; done", "while read -r x; do $x push; done <<< git", "v=make; ${v} clean",
            "${u:=git} push", "a=git b=push; $a$IFS$b", "a=(make clean); ${a[0]} ${a[1]}", "x=push; git \"$x\"",
            "x='push --force'; git $x", "HOME=git; ~ push", "HOME=push; git ~", "OLDPWD=git; ~- push", ": git; $_ push",
            "x=/git; bin$x push", "x=bin; $x/git push", "set git; for x do $x push; done", "x=xgit; ${x#x} push",
            "x='$(g'; x+='it push)'; : \"${x@P}\"", "x='\\x67it'; ${x@E} push", "declare -n r=x; x=git; $r push",
            "x='a[$(git push)]'; (( x ))", "printf -v 'a[$(git push)]' x",
            "mapfile -t x <<< $'git\\npush'; \"${x[@]}\"",
        )  # fmt: skip
        return self._random.choice(forms)

    def _comment(self) -> str:
        inside = self.line()
        forms = (
            f"# it's\n{inside}", f": # \"\n{inside}", f"{inside} # )", f"#\n{inside}", f"echo a#b; {inside}",
            f"echo a\\ # b\n{inside}", f"echo '#'; {inside}", f"# $(\n{inside}", f"# <<EOF\n{inside}",
        )  # fmt: skip
        return self._random.choice(forms)

    def _branch(self) -> str:
        inside = self.line()
        forms = (
            f"if true; then {inside}; fi", f"for i in 1; do {inside}; done", f"case a in a) {inside};; esac",
            f"until {inside}; do break; done", f"while {inside}; do break; done", f"if {inside}\nthen :\nfi",
            f"case x in (x|y) {inside} ;; esac", f"for ((i=0;i<1;i++)); do {inside}; done",
            f"[[ a == a ]] && {inside}", f"((1)) && {inside}",
            f"if false; then :; elif true; then {inside}; else :; fi", f"for i in 1\ndo {inside}\ndone",
            f"select i in 1; do {inside}; break; done <<< 1", f"case a in b) :;; *) {inside}\nesac",
        )  # fmt: skip
        return self._random.choice(forms)

    def _array(self) -> str:
        inside = self._simple()
        return self._random.choice(
            (f'a=( {inside} ); "${{a[@]}}"', f"a=($({inside}))", f"a[0]=x {inside}", f"a+=b {inside}")
        )

    def _alias(self) -> str:
        forms = (
            "shopt -s expand_aliases\nalias g=git\ng push", "shopt -s expand_aliases\nalias gp='git push'\ngp",
            "hash -p bin/git foo; foo push", "shopt -s extglob\nbin/@(git) push", "shopt -s extglob\nbin/g+(i)t push",
            "shopt -s expand_aliases\nalias r='rm '\nr -rf x", "BASH_CMDS[x]=bin/git; x push",
            "BASH_CMDS=([x]=bin/git); x push", "shopt -s expand_aliases; BASH_ALIASES[x]=git\nx push",
            "command_not_found_handle() { git \"$@\"; }; push", "git -c alias.x='push --force' x",
        )  # fmt: skip
        return self._random.choice(forms)

    def _fed(self) -> str:
        """A shell that is given what it runs, in a way that hides it."""
        inside = self.line()
        octal = "".join(f"\\0{byte:03o}" for byte in inside.encode("utf-8", "replace"))
        hidden = f"printf %b '{octal}'"
        shell = self._random.choice(
            ("bash", "sh", "bin/b?sh", "bin/[b]ash", "bash -s", "bash -o errexit", "bash +B", "env bash",
            "command bash",
             "bash -", "bash /dev/stdin", "bash /dev/fd/0", ". /dev/stdin", "builtin source /dev/stdin", "bash -c bash",
             "bash --rcfile x", "bash //dev/stdin", "eval bash", "exec bash", "timeout 5 bash", "${x:-bash}", '"$BASH"')
        )  # fmt: skip
        forms = (
            f"{hidden} | {shell}", f"{shell} < <({hidden})", f"{{ {shell}; }} < <({hidden})",
            f"({shell}) < <({hidden})",
            f"if :; then {shell}; fi < <({hidden})", f"f() {{ {shell}; }}; f < <({hidden})",
            f"f() {{ {shell}; }}; {hidden} | f", f"exec < <({hidden}); {shell}", f"exec 3< <({hidden}); {shell} <&3",
            f"{hidden} > >({shell})", f"{hidden} | tee >({shell})", f'{shell} <<< "$({hidden})"',
            f'{{ {shell}; }} <<< "$({hidden})"', f"{shell} <<E\n$({hidden})\nE",
            f"coproc {hidden}; {shell} <&${{COPROC[0]}}",
            f"{{ {shell}; }} <<'E'\n{inside}\nE", f"{hidden} | {{ cat | {shell}; }}", f"{hidden} |\n{shell}",
            f"bash <({hidden})", f". <({hidden})", f'eval "$({hidden})"', f'bash -c "$({hidden})"', f"$({hidden})",
            f"exec {{x}}< <({hidden}); {shell} <&$x", f"exec 3<<'E'; {shell} <&3\n{inside}\nE",
        )  # fmt: skip
        return self._random.choice(forms)

    def _odd(self) -> str:
        inside = self.line()
        forms = (
            f"\r{inside}", f"{inside}\r", f"\xa0{inside}", f"\x0b{inside}", f"\u2028{inside}", f"{inside};",
            f";{inside}", f"\n{inside}\n", f"\t{inside}", f"\\\n{inside}", f"''{inside}", f"{inside}\\",
            f"true;\\\n{inside}", f"{{ {inside} }}", f"{inside})", f"){inside}", f"time -p {inside}",
            f"! ! {inside}", f"coproc {{ {inside}; }}", f"coproc x {{ {inside}; }}",
        )  # fmt: skip
        return self._random.choice(forms)


_ANSI = {ord(character): f"\\{ord(character):03o}" for character in "'\\\n ug"}


class Bash:
    """A bash that can do no harm, and says what it ran."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        (folder / "work").mkdir()
        (folder / "bin").mkdir()
        for name in (*STUBS, *FILTERS):
            stub = folder / "bin" / name
            stub.write_text(_STUB)
            stub.chmod(0o755)
        for name in RUNNERS:
            if found := shutil.which(name):
                (folder / "bin" / name).symlink_to(os.path.realpath(found))
        for name in FILES:
            (folder / "work" / name).touch()
        (folder / "work" / "bin").symlink_to(folder / "bin")
        self._numbers = iter(range(1 << 60))

    def ran(self, lines: list[str]) -> list[tuple[Ran, ...] | None]:
        """What each line ran; None for one that took too long."""
        found: list[tuple[Ran, ...] | None] = []
        while len(found) < len(lines):
            done = self._batch(lines[len(found) :])
            found += done
            if len(found) < len(lines):  # the last one never ended
                found[-1:] = [None]
        return found

    def _batch(self, lines: list[str]) -> list[tuple[Ran, ...]]:
        number = next(self._numbers)
        given, log = self._folder / f"lines{number}", self._folder / f"log{number}"
        given.write_bytes(b"".join(line.encode("utf-8", "replace") + b"\0" for line in lines))
        log.touch()
        try:
            self._run(given, log, _FUNCTIONS if number % _WITHOUT_FUNCTIONS else "")
            return _read_log(log.read_bytes(), len(lines))
        finally:
            given.unlink()
            log.unlink()

    def _run(self, given: Path, log: Path, functions: str) -> None:
        folder = str(self._folder)
        sandbox = [
            "bwrap",
            "--ro-bind",
            "/",
            "/",
            "--dev",
            "/dev",
            "--proc",
            "/proc",
            "--unshare-all",
            "--die-with-parent",
        ]
        sandbox += ["--tmpfs", "/tmp", "--ro-bind", folder, folder, "--chdir", f"{folder}/work", "--clearenv"]
        sandbox += ["--setenv", "PATH", f"{folder}/bin", "--setenv", "HOME", f"{folder}/work", "--new-session"]
        limits = "ulimit -t 20 -f 2000 -c 0; "
        shell = [
            shutil.which("bash") or "bash",
            "-c",
            f"exec 7<&0 9>&1 </dev/null >/dev/null; {limits}{functions}{_DRIVER}",
        ]
        with given.open("rb") as source, log.open("ab") as target:
            process = subprocess.Popen(
                [*sandbox, *shell],
                stdin=source,
                stdout=target,
                stderr=subprocess.DEVNULL,
                env={"PATH": os.environ.get("PATH", "")},
            )
        begun = -1
        while process.poll() is None:
            try:
                process.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                before, begun = begun, log.read_bytes().count(b"line\0")
                if begun == before:
                    process.kill()


def _read_log(data: bytes, count: int) -> list[tuple[Ran, ...]]:
    """Of every line that was begun, the last of which may not have ended."""
    fields = data.decode("utf-8", "replace").split("\0")
    found: list[list[Ran]] = []
    at = 0
    while at < len(fields) - 1:
        if fields[at] == "line":
            if fields[at + 1] == "end":
                return [tuple(each) for each in found]
            found.append([])
            at += 2
        elif fields[at] == "writes" and found:
            found[-1].append((">", "/tmp/o p"))
            at += 1
        elif not fields[at].isdigit() or not found:  # a line that wrote to the log itself
            at += 1
        else:
            words = int(fields[at])
            found[-1].append(tuple(fields[at + 1 : at + 2 + words]))
            at += 2 + words
            found[-1] += [("=", given) for given in fields[at : at + len(VARIABLES)] if given]
            at += len(VARIABLES)
    return [tuple(each) for each in found[:count]] or [()]


def denies_really(rule: str, ran: Ran) -> bool:
    """What a rule that denies means, told from what a program was really given."""
    pattern = shlex.split(parse_rule(rule, denies=True).pattern)
    program, *arguments = pattern
    if ran[0] != program:
        return False
    words = [word for word in arguments if not word.startswith("-") and word != "*"]
    options = [word for word in arguments if word.startswith("-")]
    given, skips = [], False
    for word in ran[1:]:
        if skips:
            skips = False
        elif word.startswith("-"):
            skips = word in _VALUES
        else:
            given.append(word)
    if "-C" in options:
        options.remove("-C")
        if "-C" not in ran[1:]:
            return False
    return given[: len(words)] == words and all(option in ran[1:] for option in options)


_harmless = re.compile(
    r"(?:CI|NO_COLOR|LANG)=[A-Za-z0-9_.@-]*|NODE_ENV=(?:test|development)|TZ=[A-Za-z_]+(?:/[A-Za-z_]+){0,2}"
).fullmatch
_amount = re.compile(
    r"-\d+|[+-]?\d+[A-Za-z]{0,3}|-[nc][+-]?\d+[A-Za-z]{0,3}|-[lwcmLqvz]+|--(?:lines|bytes)=[+-]?\d+"
).fullmatch


def is_around_a_command(ran: Ran) -> bool:
    """What a rule covers besides its command, told from what really ran: a variable that changes nothing, and a program
    that reads nothing but its input."""
    name, *given = ran
    if name == "=":
        return _harmless(given[0]) is not None
    if name not in FILTERS:
        return False
    return all(word in ("-n", "-c") or _amount(word) is not None for word in given)


class Judge:
    """Compares what ran with what the rules said."""

    def __init__(self, bash: Bash, workspace: Path) -> None:
        self._bash = bash
        self._workspace = workspace
        patterns = [parse_rule(rule) for rule in ALLOW]
        self._exact = {
            str(rule): ran or ()
            for rule, ran in zip(patterns, bash.ran([rule.pattern for rule in patterns]), strict=True)
            if rule.exactly or not any("*" in word for word in shlex.split(rule.pattern)) or "'" in rule.pattern
        }

    def judge(self, case: Case, ran: tuple[Ran, ...], other: tuple[Ran, ...], report: Report) -> None:
        self._judge_line(case, case.line, ran, report)
        self._judge_line(case, case.other, other, report)
        if prefix := prefix_rule(case.line, sandboxed=True):
            self._judge_prefix(prefix, case.line, ran, report)
            self._judge_prefix(prefix, case.other, other, report)
            if allows_command([parse_rule(prefix)], case.line) is None:
                report.findings.append(Finding("not allowed by its prefix", case.line, (prefix,), ran))
        suggestion = suggest("exec", case.line)
        if not suggestion:
            return
        rule = parse_rule(suggestion)
        if allows_command([rule], case.line) is None:
            report.findings.append(Finding("not allowed by its own rule", case.line, (suggestion,), ran))
        if case.other != case.line and allows_command([rule], case.other) is not None:
            report.alike += 1
            if _commands(ran) != _commands(other) and not self._come_out_alike(case):
                both = (*ran, ("and",), *other)
                report.findings.append(Finding(f"alike: {case.other!r}", case.line, (suggestion,), both))

    def _come_out_alike(self, case: Case) -> bool:
        """Commands that run beside each other (`&`, `coproc`) come out one way or the other."""
        again = [None if ran is None else tuple(_commands(ran)) for ran in self._bash.ran([case.line, case.other] * 4)]
        return not set(again[::2]).isdisjoint(again[1::2])

    def _judge_prefix(self, prefix: str, line: str, ran: tuple[Ran, ...], report: Report) -> None:
        rule = parse_rule(prefix)
        if allows_command([rule], line) is None:
            return
        report.prefixed += 1
        words = tuple(rule.pattern.split(" ")[:-1])
        if not all(each[: len(words)] == words or is_around_a_command(each) for each in ran):
            report.findings.append(Finding("prefix", line, (prefix,), ran))

    def _judge_line(self, case: Case, line: str, ran: tuple[Ran, ...], report: Report) -> None:
        report.lines += 1
        report.programs += len(ran)
        if allows_command([parse_rule(rule) for rule in case.allow], line) is not None:
            report.allowed += 1
            meant = [each for each in ran if not is_around_a_command(each)]
            if not all(any(self._allows_really(rule, each) for rule in case.allow) for each in meant):
                report.findings.append(Finding("allowed", line, case.allow, ran))
        policy = Policy("full", [], case.deny, self._workspace, guarded=())
        refused = policy.decide(_Need(line)).verdict != "allow"
        report.refused += refused
        if not refused and any(denies_really(rule, each) for rule in case.deny for each in ran):
            report.findings.append(Finding("denied", line, case.deny, ran))

    def _allows_really(self, rule: str, ran: Ran) -> bool:
        if rule in self._exact:
            return ran in self._exact[rule]
        pattern = parse_rule(rule).pattern.split()
        if pattern[-1] == "*":
            return list(ran[: len(pattern) - 1]) == pattern[:-1]
        if "*" in pattern:
            at = pattern.index("*")
            behind = pattern[at + 1 :]
            return (
                list(ran[:at]) == pattern[:at]
                and list(ran[len(ran) - len(behind) :]) == behind
                and len(ran) >= len(pattern) - 1
            )
        return len(ran) == len(pattern) and all(map(fnmatchcase, ran, pattern))


def _commands(ran: tuple[Ran, ...]) -> list[Ran]:
    return sorted(each for each in ran if not is_around_a_command(each))


class _Need(msgspec.Struct, frozen=True):
    what: str
    access: Literal["exec"] = "exec"
    sandboxed: bool = False
    exposed: tuple[str, ...] = ()
    where: str = ""


def check(count: int, seed: int, progress: Callable[[Report], None] = lambda report: None) -> Report:
    """Run this many lines, two of a case."""
    report = Report()
    with tempfile.TemporaryDirectory(prefix="rules-against-bash-") as name:
        folder = Path(name)
        bash = Bash(folder)
        judge = Judge(bash, folder / "work")
        with ThreadPoolExecutor(2 * (os.cpu_count() or 1)) as pool:
            for cases, found in pool.map(lambda cases: (cases, bash.ran(_lines(cases))), _batches(count, seed)):
                for case, ran, other in zip(cases, found[::2], found[1::2], strict=True):
                    if ran is None or other is None:
                        report.lost += 2
                    else:
                        judge.judge(case, ran, other, report)
                progress(report)
    return report


def _lines(cases: list[Case]) -> list[str]:
    return [line for case in cases for line in (case.line, case.other)]


def _batches(count: int, seed: int) -> Iterator[list[Case]]:
    sentences = Sentences(seed)
    for begin in range(0, count, 2 * _BATCH):
        cases = [sentences.case() for _ in range((min(2 * _BATCH, count - begin) + 1) // 2)]
        yield [msgspec.structs.replace(case, line=_safe(case.line), other=_safe(case.other)) for case in cases]


def _safe(line: str) -> str:
    return line.replace("\0", "")


def _summary(report: Report, began: float) -> str:
    return (
        f"{report.lines} lines ran {report.programs} programs in {time.monotonic() - began:.0f} s: "
        f"{report.allowed} allowed, {report.alike} allowed as another, {report.prefixed} with any arguments, "
        f"{report.refused} denied or asked, "
        f"{report.lost} took too long, "
        f"{len(report.findings)} wrong"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description="permission rules against bash itself")
    parser.add_argument("--count", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=None, help="to replay; a new one each time")
    options = parser.parse_args()
    seed = random.SystemRandom().randrange(2**32) if options.seed is None else options.seed
    print(f"seed {seed}", flush=True)
    began, shown = time.monotonic(), 0

    def progress(report: Report) -> None:
        nonlocal shown
        for finding in report.findings[shown:]:
            print(f"{finding.kind}\n  {finding.line!r}\n  rules {finding.rules}\n  ran {finding.ran}", flush=True)
        shown = len(report.findings)
        if report.lines % 20_000 < _BATCH:
            print(_summary(report, began), file=sys.stderr, flush=True)

    report = check(options.count, seed, progress)
    print(_summary(report, began))
    return 1 if report.findings else 0


if __name__ == "__main__":
    sys.exit(main())
