"""What the channels of all providers share of their requests."""

from typing import Any

import pytest

from sightline.providers._requests import choice_in, question, words_in


@pytest.mark.parametrize(
    ("answer", "read"),
    [
        ("once", ("once", "")),
        ({"choice": "no", "reason": "later"}, ("no", "later")),
        ({"choice": "no", "reason": None}, ("no", "")),
        ({}, ("", "")),
    ],
)
def test_the_answer_to_an_approval(answer: Any, read: tuple[str, str]) -> None:
    """The choice by itself, or with a reason."""
    assert choice_in(answer) == read


@pytest.mark.parametrize("answer", [None, True, 3, [], ["once"], {"choice": ["once"]}, {"chosen": "once"}])
def test_what_is_no_choice_allows_nothing(answer: Any) -> None:
    """It is none of those that are offered."""
    assert choice_in(answer)[0] not in ("once", "this session", "always here")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("red", ["red"]),
        (["red", "blue"], ["red", "blue"]),
        ({"chosen": ["red"], "text": "or pink"}, ["red", "or pink"]),
        ({"text": "pink"}, ["pink"]),
        (None, []),
        ("", []),
        ({"chosen": None, "text": ""}, []),
    ],
)
def test_the_answer_to_a_question(answer: Any, words: list[str]) -> None:
    """What was chosen, then what was written; nothing where it was not answered."""
    assert words_in(answer) == words


def test_a_question_offers_what_its_options_say() -> None:
    """However few fields they have."""
    asked = question("q1", "Which?", [{"label": "red", "description": "warm"}, {"label": None}], several=True)
    assert asked.choices == ["red", ""]
    assert asked.details == {
        "ui": {"kind": "question"},
        "choices": [{"label": "red", "description": "warm"}, {"label": "", "description": ""}],
        "several": True,
        "free_text": True,
    }
