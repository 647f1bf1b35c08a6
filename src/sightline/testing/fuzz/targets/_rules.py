"""Permission rules and what they decide: a mistake is said, nothing is raised, a rule reads as it is written."""

from pathlib import Path
from random import Random
from typing import Any

from sightline.settings import Policy, RuleMistake, parse_rule
from sightline.testing.fuzz._mutation import joined, text_of
from sightline.testing.fuzz._target import Plain, hold
from sightline.testing.fuzz.targets._commands import PIECES
from sightline.tools._tool import Need

_FRAMES = [
    "exec({})",
    "exec({}:*)",
    "read({})",
    "write({})",
    "network({})",
    "exec",
    "read",
    "network",
    "{}",
    "exec({}",
    "{})",
    "EXEC({})",
]
_PATTERNS = [
    "git", "git push", "git push --force", "make *", "npm run *", "'~'", "'*'", "*", "**", "/etc/**", "~/.ssh/*",
    "src/**/x.py", "../..",
    "[a-", "]", "{a,b}", "?", "example.com", "*.example.com", "example.com:443", "[::1]:80", "::1", "127.0.0.1", ":",
    "a:b:c", "xn--x", "(", ")",
]  # fmt: skip
_HOSTS = [
    "example.com",
    "EXAMPLE.com.",
    "a.example.com",
    "example.com:443",
    "[::1]",
    "127.1",
    "0x7f.1",
    "evil.com/example.com",
    "",
]
_LEVELS: list[Any] = ["auto", "plan", "edit", "full"]


class Rules(Plain):
    name = "rules"

    def open(self) -> None:
        self._workspace = Path("/tmp/no-such-workspace")

    def make(self, random: Random) -> tuple[str, str, str]:
        pattern = joined(random, _PATTERNS if random.random() < 0.5 else PIECES, 6)
        if random.random() < 0.1:
            pattern = text_of(random, 60)
        rule = random.choice(_FRAMES).replace("{}", pattern * random.choice((1,) * 20 + (100,)))
        what = random.choice(
            [joined(random, PIECES, 20), pattern, f"/{pattern}", random.choice(_HOSTS), text_of(random)]
        )
        return rule, what, random.choice(_LEVELS)

    def check(self, given: tuple[str, str, Any]) -> None:
        text, what, level = given
        for denies in (False, True):
            try:
                rule = parse_rule(text, denies=denies)
            except RuleMistake as mistake:
                hold(bool(mistake.message), "a mistake without a word")
                continue
            hold(str(parse_rule(str(rule), denies=denies)) == str(rule), "a rule does not read as it is written")
            policy = Policy(level, () if denies else (text,), (text,) if denies else (), self._workspace, guarded=())
            for access in ("read", "write", "exec", "network"):
                self._decide(
                    policy, Need(access, what if access in ("exec", "network") else f"/{what}"), rule.access, denies
                )

    def _decide(self, policy: Policy, need: Need, access: str, denies: bool) -> None:
        if "\0" in need.what and need.access in ("read", "write"):
            return  # no path: the tools refuse it before it is a need
        try:
            need.what.encode()
        except UnicodeEncodeError:
            return  # no command and no path: what is decoded from JSON is text
        decision = policy.decide(need)
        hold(decision.verdict in ("allow", "deny", "ask"), "no verdict")
        if (
            decision.verdict == "allow"
            and not denies
            and policy.approval == "edit"
            and need.access in ("exec", "network")
        ):
            hold(access == need.access, "a rule for one thing allows another")
