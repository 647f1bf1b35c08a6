"""A long text that is laid out in pieces looks as it does in one."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.tty.components import BlockColumn, Markdown
from sightline.views.console.blocks import _pieces
from sightline.views.console.blocks._pieces import pieces_of

PARTS = [
    "# A heading",
    "Some words that go on for a while, so that they are wrapped somewhere in the middle of it all.",
    "- one\n- two\n\n- three, loose\n\n  and a second paragraph of it",
    "1. first\n2. second",
    "```python\ndef f(x):\n\n    return x\n\nAt the margin, in a fence\n```",
    "~~~\nother\n\nFence ``` inside\n~~~",
    "> quoted\n> words\n\nAfter a quote",
    "| a | b |\n| - | - |\n| 1 | 2 |",
    "    indented code\n\n    goes on",
    "Setext\n======",
    "***",
    "`code` and **bold** and [a link](http://localhost)",
    "Ünïcode words 汉字",
    "```",
    "* item\n\n      code in an item\n\nWords after it",
]


def rows_of(*texts: str) -> list[str]:
    transcript = BlockColumn()
    for text in texts:
        block = Markdown(text)
        block.finish()
        transcript.append(block)
    return list(transcript.render(60))


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(PARTS), min_size=1, max_size=14), st.sampled_from(["\n\n", "\n\n\n"]))
def test_pieces_one_below_the_other_look_like_the_whole(parts: list[str], between: str) -> None:
    """Wherever a text is cut, the rows are those of the text that was not cut."""
    text = between.join(parts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_pieces, "LONG", 0)
        patch.setattr(_pieces, "PIECE", 1)
        pieces = pieces_of(text)
    assert rows_of(*pieces) == rows_of(text)


def test_a_long_text_is_cut_often_enough() -> None:
    """No piece of ordinary prose is much longer than a piece should be."""
    text = "\n\n".join(f"Paragraph {number} " + "word " * 60 for number in range(400))
    pieces = pieces_of(text)
    assert len(pieces) > 10
    assert max(map(len, pieces)) < 2 * _pieces.PIECE
    assert "\n\n".join(pieces) == text


@pytest.mark.parametrize(
    "reaching",
    ["[name]: http://localhost/", "<pre>\n\nWords\n\n</pre>", "<!-- a comment\n\nthat goes on -->", "    ```\n\nWords"],
)
def test_what_could_reach_across_a_cut_keeps_the_text_whole(reaching: str) -> None:
    """A definition, raw HTML, or a fence that may be none: nothing is cut."""
    text = f"{reaching}\n\n" + "\n\n".join("Words " * 100 for _ in range(60))
    assert pieces_of(text) == [text]
