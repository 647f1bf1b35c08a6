"""The events of a stream without secrets: whole, in order, and no later than needed."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from sightline.events import Reasoning, Text, ToolArgs, ToolOutput, ToolResult, ToolUse
from sightline.secrets import MaskedEvents, Secrets

KEY = "k3y-that-stays-here"
MASK = "[secret SOME_API_KEY]"
SECRETS = Secrets({"SOME_API_KEY": KEY})


@given(st.lists(st.integers(0, 60), max_size=6))
def test_words_in_pieces_are_masked_as_the_whole_is(cuts: list[int]) -> None:
    """However they are cut, with those of another agent in between."""
    text = f"a. {KEY}, then {KEY[:9]}! and {KEY}"
    ends = sorted({0, *(min(cut, len(text)) for cut in cuts), len(text)})
    masked = MaskedEvents(SECRETS)
    shown = []
    for start, end in pairwise(ends):
        shown += masked.mask([Text(text[start:end], 1), Text("!", 1, agent="Other-1")])
    shown += masked.end()
    words = "".join(event.text for event in shown if isinstance(event, Text) and not event.agent)
    assert words == SECRETS.masked(text)


def test_what_waits_is_shown_before_what_ends_it() -> None:
    """Words before anything else of the agent, arguments before their call, output before the result."""
    masked = MaskedEvents(SECRETS)
    batch = [
        Text("k3y", 1),
        Reasoning("k3y", 2),
        ToolArgs("c", KEY, "k3y"),
        ToolUse("c", KEY, native_id=KEY),
        ToolOutput("c", "k3y-that"),
        ToolOutput("c", "-stays-here k3y"),
        ToolResult("c", f"x {KEY}", {KEY: [KEY]}),
    ]
    shown = masked.mask(batch) + masked.end()
    assert KEY not in repr(shown)
    kinds = [type(event) for event in shown]
    assert kinds == [Text, Reasoning, ToolArgs, ToolArgs, ToolUse, ToolOutput, ToolOutput, ToolResult]
    assert "".join(event.content for event in shown if isinstance(event, ToolOutput)) == f"{MASK} k3y"


def test_nothing_waits_that_need_not() -> None:
    """Words that begin no value are shown at once, and without secrets a batch is the same batch."""
    assert MaskedEvents(SECRETS).mask([Text("Done.", 1)]) == [Text("Done.", 1)]
    batch = [Text(KEY, 1)]
    assert MaskedEvents(Secrets({})).mask(batch) is batch
