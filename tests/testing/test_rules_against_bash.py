"""A small count of `python -m sightline.testing.rules_against_bash`."""

import pytest

from sightline.testing.rules_against_bash import check, denies_really


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
