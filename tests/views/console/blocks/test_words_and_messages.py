"""Words of the model and of the person, and remarks."""

from sightline.events import Reasoning, Text
from sightline.transcript import Remark, Transcript, TranscriptMessage, TranscriptText
from sightline.tty.components import Markdown
from sightline.views.console.blocks import block_for
from sightline.views.console.blocks._words import WordsBlock
from tests.views.console.blocks.support import COLOURS, HOSTILE, drawing, fits

ANSWER = (
    "# Title\n\nSome *words* here.\n\n- one\n- two\n\n```python\nprint(1)\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
)


def test_streamed_words_look_as_written_at_once() -> None:
    """Markdown that comes in pieces ends as the whole would."""
    fold = Transcript()
    fold.apply(Text(ANSWER[:5], 1))
    block = block_for(fold.now.entries[0], drawing(), {})
    for at in range(5, len(ANSWER), 3):
        fold.apply(Text(ANSWER[at : at + 3], 1))
        block.changed()
        block.render(60)
    block.close()
    whole = Markdown(ANSWER)
    whole.finish()
    assert list(block.render(60)) == list(whole.render(60))
    assert block.done


def test_rows_of_words_become_history_as_they_settle() -> None:
    """What will not change any more is final although the rest streams."""
    fold = Transcript()
    fold.apply(Text("one\n\ntwo\n\nthr", 1))
    block = block_for(fold.now.entries[0], drawing(), {})
    assert isinstance(block, WordsBlock)
    rows = list(block.render(60))
    final = block.live_from()
    assert final
    assert 0 < final < len(rows)
    assert block.release(final) == final
    assert list(block.render(60)) == rows[final:]
    block.restore()
    assert list(block.render(60)) == rows


def test_a_message_of_an_agent_is_one_row_that_names_it() -> None:
    """From whom it is and what it answers; unfolded, all of it. One of the user is like every other of the user."""
    message = TranscriptMessage(
        "", "Halfway.\nMore of it.", "steer", 7, [], "irc", mail="m2", sender="A/B", reply_to="m1"
    )
    assert list(block_for(message, drawing(), {}).render(70)) == [
        "· m2 from A/B, in reply to m1: Halfway. … 1 more line (alt+o)"
    ]
    assert list(block_for(message, drawing(unfolded=True), {}).render(70)) == [
        "· m2 from A/B, in reply to m1: Halfway.",
        "  More of it.",
    ]
    hostile = TranscriptMessage("", HOSTILE[1], source="irc", mail=HOSTILE[4], sender=HOSTILE[1], reply_to=HOSTILE[2])
    fits(block_for(hostile, drawing(), {}))
    user = TranscriptMessage("", "Stop.", "prompt", mail="m3")
    assert list(block_for(user, drawing(), {}).render(70)) == ["› Stop."]


def test_text_after_the_end_is_no_error() -> None:
    """A block that is closed stays as it is, whatever a source still says."""
    words = TranscriptText("", 1, "done")
    block = block_for(words, drawing(), {})
    block.close()
    rows = list(block.render(60))
    words.text += " and more"
    assert list(block.render(60)) == rows


def test_reasoning_is_drawn_on_request_only() -> None:
    """What the model thinks takes no row until it is asked for, and is dim then."""
    fold = Transcript()
    fold.apply(Reasoning("I wonder", 1))
    how = drawing(COLOURS)
    block = block_for(fold.now.entries[0], how, {})
    assert len(block.render(60)) == 0
    assert block.source == ""
    how.reasoning = True
    rows = block.render(60)
    assert rows[0].startswith(COLOURS.open("dim"))
    assert "I wonder" in rows[0]
    assert block.render(60) is rows


def test_words_are_copied_as_markdown() -> None:
    """The source, not the rows."""
    block = block_for(TranscriptText("", 1, ANSWER), drawing(), {})
    block.render(20)
    assert block.source == ANSWER


def test_a_prompt_is_told_with_what_was_attached() -> None:
    """The words, all of them, and the names of what came with them."""
    message = TranscriptMessage("", "look at\nthis", attachments=["artifact://s/paste-1.png"])
    assert list(block_for(message, drawing(), {}).render(40)) == ["› look at", "  this", "  + paste-1.png"]


def test_the_lines_a_long_prompt_has_more_are_counted_with_those_left_out() -> None:
    """Those of the text that are not shown, and those an event does not have."""
    text = "\n".join(f"line {number}" for number in range(1, 4_001)) + "\n[… 1,000 more lines]"
    rows = block_for(TranscriptMessage("", text, left_out_lines=1_000), drawing(), {}).render(60)
    assert rows[-1].startswith("  … 4,990 more lines")


def test_an_attached_file_has_its_own_name() -> None:
    """What a session calls a file it keeps is no part of the file's name."""
    names = ["kmenm8-222-pic-one.png", "kmenm8-3-k3m9qz-1-x.png", "notes-2024-plan.md", "kmenm8-1-"]
    message = TranscriptMessage("", "see", attachments=[f"artifact://kmenm8/{name}" for name in names])
    assert list(block_for(message, drawing(), {}).render(60))[1:] == [
        "  + pic-one.png",
        "  + k3m9qz-1-x.png",
        "  + notes-2024-plan.md",
        "  + kmenm8-1-",
    ]


def test_how_a_message_came_is_said() -> None:
    """What was said while the agent worked is told apart."""
    rows = block_for(TranscriptMessage("", "stop that", "steer", source="person"), drawing(), {}).render(60)
    assert list(rows) == ["› stop that", "  steering"]


def test_a_job_is_called_by_its_number_in_its_report() -> None:
    """As everywhere else, whatever the model calls it; what it wrote is as it was."""
    text = "Background job k3m9qz-12 (make) has ended: completed.\n\njob k3m9qz-12 wrote this"
    block = block_for(
        TranscriptMessage("", text, "follow_up", source="job", job="k3m9qz-12"), drawing(unfolded=True), {}
    )
    assert list(block.render(80)) == [
        "· job: Background job 12 (make) has ended: completed.",
        "",
        "  job k3m9qz-12 wrote this",
    ]


def test_words_in_the_persons_place_are_named_and_folded() -> None:
    """A job that ended tells the model a lot: one dim row says who spoke and how it begins; unfolded, all is there."""
    text = "\n".join(f"row {n}" for n in range(300))
    how = drawing()
    block = block_for(TranscriptMessage("", text, "follow_up", source="job", job="k3m9qz-12"), how, {})
    assert list(block.render(60)) == ["· job: row 0 … 299 more lines (alt+o)"]
    how.unfolded = True
    assert list(block.render(60)) == ["· job: row 0", *(f"  row {n}" for n in range(1, 300))]
    assert block.source == text


def test_words_in_the_persons_place_are_dim_and_have_no_marks_for_a_model() -> None:
    """A reminder is no word of the person's, and its tags are nobody's business; the same inside an agent."""
    text = "<system-reminder>\nThe list has open tasks:\n- one\n</system-reminder>"
    message = TranscriptMessage("", text, "steer", source="todo")
    assert list(block_for(message, drawing(unfolded=True), {}).render(60)) == [
        "· Automatic todo reminder",
        "  The list has open tasks:",
        "  - one",
    ]
    row = block_for(message, drawing(COLOURS), {}).render(60)[0]
    assert row.count(COLOURS.open("dim")) == 2
    assert COLOURS.open("accent") not in row
    assert list(block_for(message, drawing(linear=True), {}).render(60)) == [
        "Automatic todo reminder … 2 more lines (/unfold)"
    ]
    inside = block_for(TranscriptMessage("A", text, source="todo"), drawing(), {})
    assert "│ Automatic todo reminder" in inside.render(60)


def test_a_short_word_in_the_persons_place_is_whole_in_its_row() -> None:
    """Nothing is said to be left out where nothing is; a tag that is meant as text stays."""
    block = block_for(TranscriptMessage("", "look at <my-tag> once", source="extension"), drawing(), {})
    assert list(block.render(60)) == ["· extension: look at <my-tag> once"]


def test_a_remark_says_what_to_do() -> None:
    """An error, and below it the hint."""
    rows = block_for(Remark("", "error", "no key", "set one"), drawing(), {}).render(40)
    assert list(rows) == ["✕ no key", "  hint: set one"]


def test_whatever_is_said_fits_and_drives_nothing() -> None:
    """Hostile, wide and long text is drawn within the width at every width."""
    for text in HOSTILE:
        for entry in (
            TranscriptMessage("", text, source=text),
            Remark("", "warning", text, text),
            TranscriptText("", 1, text),
        ):
            for how in (drawing(), drawing(COLOURS, unfolded=True)):
                fits(block_for(entry, how, {}))


def test_a_text_nobody_types_is_told_by_its_first_rows() -> None:
    """What was pasted does not push the answer away: how much more there is is said, and it is there unfolded. What is
    copied is the text."""
    text = "".join(f"row {number}\n" for number in range(200))
    message = TranscriptMessage("", text)
    block = block_for(message, drawing(), {})
    rows = list(block.render(60))
    assert rows[0] == "› row 0"
    assert rows[-2:] == ["  row 9", "  … 190 more lines (alt+o)"]
    assert len(rows) == 11
    assert block.source == text
    fits(block)
    assert list(block_for(message, drawing(linear=True), {}).render(60))[-1] == "… 190 more lines (/unfold)"
    unfolded = block_for(message, drawing(unfolded=True), {})
    assert list(unfolded.render(60))[199] == "  row 199"


def test_a_text_of_some_rows_is_shown_whole() -> None:
    """A cut for the sake of little is not made; one line that is longer than that is cut within."""
    assert len(block_for(TranscriptMessage("", "row\n" * 24 + "end"), drawing(), {}).render(60)) == 25
    rows = list(block_for(TranscriptMessage("", "word " * 900), drawing(), {}).render(60))
    assert rows[-1] == "  … more of this line (alt+o)"
    assert len(rows) == 11
