"""A small count of `python -m sightline.testing.rules_against_bash`."""

import re
from pathlib import Path
from typing import Any

import pytest

from sightline.settings.rules import _command_line, _rules
from sightline.testing.rules_against_bash import Bash, Case, Judge, Report, check, denies_really, is_around_a_command


@pytest.mark.needs("bubblewrap")
def test_bash_runs_nothing_that_the_rules_did_not_say() -> None:
    """No program runs that no rule allowed, none that is denied runs unasked."""
    report = check(400, 5)
    assert report.lines > 300
    assert report.programs > 200
    assert not report.findings


def test_what_a_rule_that_denies_means() -> None:
    """Told from what a program was given: options aside, its first words."""
    assert denies_really("exec(git push)", ("git", "-C", "my repo", "push", "origin"))
    assert denies_really("exec(git push --force)", ("git", "push", "origin", "--force"))
    assert not denies_really("exec(git push)", ("git", "stash", "push"))
    assert not denies_really("exec(rm -rf)", ("rm", "-r"))


def test_what_is_around_a_command() -> None:
    """Told from what ran: variables that change nothing, filters that read nothing but what comes in."""
    for ran in [("=", "CI=1"), ("=", "TZ=Europe/Berlin"), ("tail", "-20"), ("head", "-n", "-3"), ("wc",)]:
        assert is_around_a_command(ran), ran
    for ran in [
        ("=", "GIT_SSH=rm"),
        ("=", "TZ=/etc/passwd"),
        ("=", "LANG=../x"),
        ("tail", "x.py"),
        ("tail", "-f"),
        ("wc", "--files0-from=x"),
        (">", "/tmp/o p"),
        ("make", "-20"),
    ]:
        assert not is_around_a_command(ran), ran


@pytest.mark.needs("bubblewrap")
@pytest.mark.parametrize(
    ("line", "module", "broken", "instead"),
    [
        ("GIT_SSH=rm make", _command_line, "is_harmless", lambda name, value: True),
        ("CI=1 TZ=/etc/passwd make all", _command_line, "is_harmless", lambda name, value: True),
        ("make | tail x.py", _rules, "_is_filter", lambda words: True),
        ("make 2>/tmp/'o p'", _command_line, "_redirect", re.compile(r"2>\S*( p')?").match),
    ],
)
def test_a_rule_that_covers_too_much_is_found(
    line: str, module: Any, broken: str, instead: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of the things a rule covers around a command, broken: what bash really ran tells."""
    bash = Bash(tmp_path)
    judge, case = Judge(bash, tmp_path / "work"), Case(line, "make", ("exec(make *)",), ("exec(rm)",))
    ran, other = bash.ran([case.line, case.other])
    assert ran is not None
    assert other is not None
    judge.judge(case, ran, other, whole := Report())
    assert (whole.allowed, whole.findings) == (1, [])
    monkeypatch.setattr(module, broken, instead)
    judge.judge(case, ran, other, report := Report())
    assert "allowed" in [finding.kind for finding in report.findings]
