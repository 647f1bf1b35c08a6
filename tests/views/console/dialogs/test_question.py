"""Questions of agents: one choice, several, words of one's own."""

from typing import Any

import pytest

from sightline.views.console.dialogs import dialog_for
from tests.views.console.dialogs.support import HOSTILE, WIDTHS, Bench, check_rows, coloured, drawing


def question(*labels: str, agent: str = "", text: str = "Which one?", **details: Any) -> dict[str, Any]:
    choices = [{"label": label, "description": f"about {label}"} for label in labels]
    shape = {"ui": {"kind": "question"}, "choices": choices, "several": False, "free_text": True}
    return {"what": "question", "text": text, "agent": agent, "choices": list(labels), "details": {**shape, **details}}


def bench(asked: dict[str, Any], **options: Any) -> Bench:
    return Bench(dialog_for(asked, drawing(**options)))


def test_it_is_named_by_the_agent_that_asks() -> None:
    """From any depth; the root agent is called the agent."""
    assert "Explore-2/Read-1 asks" in bench(question("red", agent="Explore-2/Read-1")).text()
    assert "The agent asks" in bench(question("red")).text()


@pytest.mark.parametrize(
    ("keys", "answer"),
    [
        (["enter"], {"chosen": ["red"]}),
        (["down", "enter"], {"chosen": ["green"]}),
        (["2"], {"chosen": ["green"]}),
    ],
)
def test_one_of_the_choices(keys: list[str], answer: dict[str, Any]) -> None:
    """By arrows or by number."""
    assert bench(question("red", "green")).press(*keys).answer == answer


def test_several_of_the_choices() -> None:
    """Ticked and unticked, answered in the order they stand in."""
    shown = bench(question("red", "green", "blue", several=True))
    shown.press("down", "down", "space", "up", "space", "space", "up", "space")
    assert "[x] red" in shown.text()
    assert "[ ] green" in shown.text()
    assert "› 1. [x] red" in shown.text()
    assert shown.press("enter").answer == {"chosen": ["red", "blue"]}


def test_with_nothing_ticked_it_says_how_to_tick() -> None:
    """An empty box is no yes, whatever is highlighted; the words go when one is ticked."""
    shown = bench(question("red", "green", several=True)).press("down", "enter")
    assert not shown.answers
    assert "tick one with space" in shown.text()
    assert "› 2. [ ] green" in shown.text()
    shown.press("space")
    assert "tick one with" not in shown.text()
    assert shown.press("enter").answer == {"chosen": ["green"]}


def test_words_of_ones_own() -> None:
    """Chosen from the list, or by simply writing."""
    shown = bench(question("red", "green")).press("up", "enter").type("mauve").press("enter")
    assert shown.answer == {"chosen": [], "text": "mauve"}
    assert bench(question("red")).type("a dark one").press("enter").answer == {"chosen": [], "text": "a dark one"}


def test_only_the_choices_where_no_words_are_wanted() -> None:
    """A letter means nothing then."""
    shown = bench(question("red", "green", free_text=False))
    assert "Something else" not in shown.text()
    assert not shown.type("xyz").answers
    assert shown.press("enter").answer == {"chosen": ["red"]}


def test_without_choices_there_is_a_line() -> None:
    """An empty one is no answer."""
    shown = bench(question(text="What is your quest?"))
    assert not shown.press("enter").answers
    assert shown.type("the grail").press("enter").answer == {"chosen": [], "text": "the grail"}


def test_escape_goes_back_to_the_choices_and_then_closes_it() -> None:
    """Also Ctrl+C."""
    shown = bench(question("red")).type("x").press("escape")
    assert not shown.answers
    assert shown.press("ctrl+c").answer is None


def test_a_long_question_is_scrolled() -> None:
    """Its end can be reached, and the choices stay."""
    text = "\n".join(f"row {number}" for number in range(80))
    shown = bench(question("red", text=text))
    assert "red" in shown.text()
    for _ in range(20):
        shown.press("pagedown")
    assert "row 79" in shown.text()
    assert "red" in shown.text()


def test_on_lines_numbers_tick_and_done_answers() -> None:
    """What cannot be ticked in place is toggled by its number."""
    shown = bench(question("red", "green", several=True), linear=True)
    shown.press("enter", "down", "enter", "down", "down", "enter")
    assert shown.answer == {"chosen": ["red", "green"]}


@pytest.mark.parametrize("width", WIDTHS)
def test_hostile_text_does_nothing(width: int) -> None:
    """In the question, the labels, the descriptions and the name of the agent."""
    asked = question(HOSTILE, "日本語" * 20, text=HOSTILE * 20, agent=HOSTILE, several=True)
    dialog = dialog_for(asked, drawing(theme=coloured()))
    dialog.done = lambda answer: None
    dialog.focused = True
    check_rows(dialog, width)


@pytest.mark.parametrize("details", [None, 3, {"choices": 4}, {"choices": [None, {"label": 3}, {}]}])
def test_a_malformed_question_can_still_be_answered(details: Any) -> None:
    """In words."""
    shown = bench({"what": "question", "text": "hm?", "details": details})
    assert shown.type("yes").press("enter").answer == {"chosen": [], "text": "yes"}
