"""Rules for people to read: on one line, none like another, and typed as they are shown."""

import pytest

from sightline.settings import RuleMistake, named_rule, shown_rule, typed_rule


@pytest.mark.parametrize(
    ("rule", "shown"),
    [
        ("exec(git push *)", "exec(git push *)"),
        ("exec(printf 'a\\n')", "exec(printf 'a\\n')"),
        ("exec(echo one\necho two)", "exec(echo one⏎echo two)"),
        ("exec(cat <<-END\n\tx\nEND\n)", "exec(cat <<-END⏎⇥x⏎END⏎)"),
        ("exec(echo ⏎)", "exec(echo \\u23ce)"),
        ("exec(echo \x1b[2J\u202e\U000e0001\xa0)", "exec(echo \\x1b[2J\\u202e\\U000e0001\\xa0)"),
    ],
)
def test_what_cannot_be_seen_is_shown(rule: str, shown: str) -> None:
    """The sign of a break is always a break."""
    assert shown_rule(rule) == shown
    assert shown.isprintable()


@pytest.mark.parametrize("rule", ["exec(make)", "exec(echo one\necho two)", "exec(a\n\tb)"])
def test_what_is_shown_can_be_typed(rule: str) -> None:
    """Breaks and tabs are what they were."""
    assert typed_rule(shown_rule(rule)) == rule


def test_a_rule_is_named_as_it_is_or_as_it_is_shown() -> None:
    """As it is comes first; where several read alike none is taken by chance."""
    rules = ["exec(a\nb)", "exec(a b)", "exec(echo \x1b)", "exec(echo \x1b )", "exec(make)"]
    assert named_rule("exec(a⏎b)", rules) == named_rule("exec(a\nb)", rules) == "exec(a\nb)"
    assert named_rule("exec(a b)", rules) == "exec(a b)"
    assert named_rule("exec(nothing)", rules) == ""
    assert named_rule("exec(echo \\x1b)", [*rules, "exec(echo \\x1b)"]) == "exec(echo \\x1b)"
    with pytest.raises(RuleMistake, match="2 rules look like that"):
        named_rule("exec(⏎\\u23ce)", ["exec(\n⏎)", "exec(\n\\u23ce)"])
