"""Readers of command lines: what is understood is what a shell would run, and the rest is not understood."""

import shlex
from pathlib import Path
from random import Random

from sightline.settings import Policy
from sightline.settings.rules._command_line import understand
from sightline.testing.fuzz._mutation import joined, text_of
from sightline.testing.fuzz._target import Plain, hold
from sightline.tools._tool import Need

PIECES = [
    "git", "push", "rm", "-rf", "make", "echo", "sh", "-c", "bash", "eval", "exec", "env", "A=b", "sudo", "xargs",
    "find", "cat", "x y",
    " ", " ", " ", "  ", "\t", "\n", "&&", "||", ";", "|", "&", ";;", "|&", ">", ">>", "<", "<<", "<<<EOF", "2>&1",
    ">(", "<(", "$(", ")",
    "`", "(", "{", "}", "{a,b}", "${x:-y}", "$x", "$'\\x41'", "$\"x\"", "'", '"', "\\", "\\\n", "#", "!", "~", "*",
    "?", "[a-z]", "=", "%",
    "if", "then", "fi", "while", "do", "done", "case", "esac", "function", "time", "[[", "]]", "((", "))", "'a b'",
    '"a b"', '"$x"', "''",
    "\u00a0", "\u200b", "é", "\0", "\x1b", "\r", "/bin/", "../", "-", "--", "0",
]  # fmt: skip


class Commands(Plain):
    name = "commands"

    def open(self) -> None:
        deny = ("exec(rm -rf *)", "exec(git push --force)", "exec(git -C * push)")
        folder = Path("/tmp/no-such-workspace")
        self._policies = [
            Policy("full", (), deny, folder, guarded=()),
            Policy("edit", ("exec(git *)",), deny, folder, guarded=()),
        ]

    def make(self, random: Random) -> str:
        if random.random() < 0.1:
            return text_of(random, 100)
        return joined(random, PIECES, random.choice((4, 12, 40))) * random.choice((1,) * 20 + (100,))

    def check(self, given: str) -> None:
        for policy in self._policies:
            hold(policy.decide(Need("exec", given)).verdict in ("allow", "deny", "ask"), "no verdict")
        line = understand(given)
        if line is None:
            return
        hold(len(line.operators) == max(len(line.commands) - 1, 0), "operators and commands do not fit")
        if not line.operators:
            split = shlex.split(given)
            read = [word.text for command in line.commands for word in command]
            hold(read == split, "understood otherwise than a shell splits it")
