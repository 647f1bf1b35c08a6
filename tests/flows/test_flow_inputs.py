"""Inputs: from texts on a command line to typed values."""

from collections.abc import Callable
from pathlib import Path

import pytest

from sightline.exceptions import UserMistake
from sightline.flows import Flow, load, parse_inputs

FLOW = """
    name: inputs
    inputs:
      name: {description: who is greeted}
      times: {type: int, default: 2}
      ratio: {type: number, default: 0.5}
      loud: {type: boolean, default: false}
      note: {required: false}
      both: {required: true, default: given anyway}
    steps:
      - id: a
        run: "true"
"""


@pytest.fixture
def flow(write: Callable[..., Path]) -> Flow:
    return load(write(FLOW))


def test_defaults_fill_what_was_not_given(flow: Flow) -> None:
    """An input with a default is never missing; an optional one without is null."""
    assert parse_inputs(flow, ["name=Ada"]) == {
        "name": "Ada",
        "times": 2,
        "ratio": 0.5,
        "loud": False,
        "note": None,
        "both": "given anyway",
    }


@pytest.mark.parametrize(
    ("pair", "value"),
    [
        ("times=7", 7),
        ("times=-1", -1),
        ("ratio=3", 3),
        ("ratio=1e3", 1000.0),
        ("loud=true", True),
        ("loud=YES", True),
        ("loud=0", False),
        ("name=", ""),
        ("name=a=b", "a=b"),
        ("name=007", "007"),
    ],
)
def test_texts_become_what_the_type_says(flow: Flow, pair: str, value: object) -> None:
    """Only the first = separates; a string stays as it was typed."""
    given = parse_inputs(flow, ["name=x", pair])

    assert given[pair.split("=")[0]] == value
    assert type(given[pair.split("=")[0]]) is type(value)


@pytest.mark.parametrize(
    ("pairs", "message", "hint"),
    [
        ([], "input name is missing (who is greeted)", "give it with --input name=VALUE"),
        (["name=x", "tims=3"], "there is no input tims", "did you mean times?"),
        (["name=x", "times=two"], "input times must be a whole number, not 'two'", "its type is int"),
        (["name=x", "times=1.5"], "input times must be a whole number, not '1.5'", "its type is int"),
        (["name=x", "ratio=nan"], "input ratio must be a number, not 'nan'", "its type is number"),
        (["name=x", "loud=maybe"], "input loud must be true or false, not 'maybe'", "its type is boolean"),
        (["name"], "not an input: name", "write --input NAME=VALUE"),
        (["=x"], "not an input: =x", "write --input NAME=VALUE"),
    ],
)
def test_a_wrong_input_is_a_users_mistake(flow: Flow, pairs: list[str], message: str, hint: str) -> None:
    """Exit code 2, one line, a hint."""
    with pytest.raises(UserMistake) as caught:
        parse_inputs(flow, pairs)

    assert (caught.value.exit_code, caught.value.message, caught.value.hint) == (2, message, hint)


def test_all_wrong_inputs_are_told_at_once(flow: Flow) -> None:
    """Nobody should have to try four times."""
    with pytest.raises(UserMistake) as caught:
        parse_inputs(flow, ["nam=x", "times=two"])

    assert caught.value.message == (
        "there is no input nam; input name is missing (who is greeted); input times must be a whole number, not 'two'"
    )
