"""Values in shell commands: whatever they are, they arrive as one word and are never code."""

import os
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.flows.file._template import Values, parse_template
from sightline.flows.running._shell import parse_shell, shell_invocation
from sightline.text import clean_text

NASTY = [
    "$(touch pwned)",
    "`touch pwned`",
    "'; touch pwned; '",
    '"; touch pwned; "',
    "$(touch pwned)'\"`\\",
    "a b  c\n* ~ $HOME && touch pwned",
    "-n",
    "\\",
    "",
    "{{ inputs.x }}",
]


def command(script: str, value: str) -> tuple[list[str], dict[str, str], str]:
    parsed, mistakes = parse_shell(parse_template(script)[0])
    assert mistakes == []
    invocation = shell_invocation(parsed, Values({"x": value}, {}))
    return invocation.argv, invocation.env, invocation.shown


def output_of(script: str, value: str, cwd: object = None) -> str:
    argv, env, _ = command(script, value)
    done = subprocess.run(argv, env={**os.environ, **env}, capture_output=True, text=True, timeout=90, cwd=cwd)  # type: ignore[arg-type]
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize("value", NASTY)
@pytest.mark.parametrize(
    "script",
    [
        "printf '<%s>' {{ inputs.x }}",
        'printf "<%s>" "{{ inputs.x }}"',
        'printf "%s" "<{{ inputs.x }}>"',
        'printf "<%s>" "$(printf %s {{ inputs.x }}; printf .)" | sed \'s/[.]>$/>/\'',
        "y={{ inputs.x }}; printf '<%s>' \"$y\"",
        "printf '%s' \"it's <{{ inputs.x }}>\" | sed \"s/^it's //\"",
        "# about {{ inputs.x }}\nprintf '<%s>' {{ inputs.x }}",
        "(printf '<%s>' {{ inputs.x }})",
        "printf '%s' \\<{{ inputs.x }}\\>",
        "printf '<%s>' ${nothing:+\"}\"} {{ inputs.x }}",
        "printf '<%s>' ${nothing:+'}'} {{ inputs.x }}",
        'printf "<%s>" "${nothing:+$(echo })}{{ inputs.x }}"',
    ],
)
def test_a_value_arrives_as_it_is_wherever_it_may_stand(script: str, value: str, tmp_path: object) -> None:
    """In every place a template may have, and nothing in the value is ever run."""
    assert output_of(script, value, tmp_path) == f"<{value}>"
    assert os.listdir(tmp_path) == []  # type: ignore[call-overload]


@settings(max_examples=30, deadline=None)
@given(st.text(max_size=40).map(clean_text))
def test_any_value_arrives_as_it_is(value: str) -> None:
    """Bare and in double quotes, for arbitrary text."""
    assert output_of("printf '<%s><%s>' {{ inputs.x }} \"{{ inputs.x }}\"", value) == f"<{value}><{value}>"


@pytest.mark.parametrize(
    ("script", "where"),
    [
        ("echo '{{ inputs.x }}'", "single quotes"),
        ("sh -c 'echo {{ inputs.x }}'", "single quotes"),
        ("echo \"a\" 'b {{ inputs.x }}'", "single quotes"),
        ("echo `echo {{ inputs.x }}`", "backticks"),
        ("echo ${y:-{{ inputs.x }}}", "${ }"),
        ('echo ${y:-"{{ inputs.x }}"}', "${ }"),
        ('echo "${y:-$(echo {{ inputs.x }})}"', "${ }"),
        ("echo $(( {{ inputs.x }} + 1 ))", "arithmetic"),
        ('echo "$(( {{ inputs.x }} + 1 ))"', "arithmetic"),
        ("cat <<END\n{{ inputs.x }}\nEND", "a here-document"),
        ("echo \"$(echo '{{ inputs.x }}')\"", "single quotes"),
    ],
)
def test_a_template_where_the_shell_takes_no_word_is_refused(script: str, where: str) -> None:
    """`flow check` says where it stands and what to write instead."""
    _, (mistake,) = parse_shell(parse_template(script)[0])

    assert f"is inside {where}" in mistake.message
    assert "double quotes" in mistake.hint


@pytest.mark.parametrize("brace", ["${y:-'}'}", '${y:-"}"}', "${y:-${z%'}'}}"])
def test_a_template_after_quotes_on_which_shells_do_not_agree_is_refused(brace: str) -> None:
    """Whether it is quoted cannot be known: in one shell it would be one word, in another it would be split."""
    _, (mistake,) = parse_shell(parse_template(f'echo "{brace}" {{{{ inputs.x }}}}')[0])

    assert "is after a quote inside ${ } inside double quotes" in mistake.message
    assert "list of words" in mistake.hint


def test_a_dollar_before_a_template_is_refused() -> None:
    """A habit from elsewhere; here it would be part of the word."""
    _, (mistake,) = parse_shell(parse_template("echo ${{ inputs.x }}")[0])

    assert mistake.hint == "write the template without the $"


@pytest.mark.parametrize(
    "script",
    [
        "echo 'a' {{ inputs.x }} 'b'",
        'echo "a \' b" {{ inputs.x }}',
        "echo it\\'s {{ inputs.x }}",
        "echo a#b' ' {{ inputs.x }}",
        "echo $((1 << 2)) {{ inputs.x }}",
        "cat <<< y {{ inputs.x }}",
        "case y in a) echo 1;; *) echo {{ inputs.x }};; esac",
        'echo "${HOME}" "{{ inputs.x }}"',
        "# don't\necho {{ inputs.x }}",
    ],
)
def test_quotes_that_are_closed_or_mean_nothing_are_not_in_the_way(script: str) -> None:
    """A template after them may stand there."""
    _, mistakes = parse_shell(parse_template(script)[0])

    assert mistakes == []


def test_the_text_of_the_command_never_holds_a_value() -> None:
    """It holds the name of a variable; what is shown holds the value, quoted for reading."""
    argv, env, shown = command('echo {{ inputs.x }} "{{ inputs.x }}"', "a b")

    assert argv == ["/bin/sh", "-c", 'echo "${SIGHTLINE_VALUE_1}" "${SIGHTLINE_VALUE_2}"']
    assert env == {"SIGHTLINE_VALUE_1": "a b", "SIGHTLINE_VALUE_2": "a b"}
    assert shown == "echo 'a b' \"a b\""
