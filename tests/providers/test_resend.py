"""Texts that come again after a broken stream."""

from hypothesis import given
from hypothesis import strategies as st

from sightline.providers._resend import Resend


def test_nothing_is_compared_while_the_stream_is_healthy():
    """Only a break makes a repetition expected."""
    resend = Resend()
    resend.show("a")
    assert not resend.expecting


def test_what_was_shown_is_taken_off_the_front():
    """The rest continues the block it belongs to."""
    resend = Resend()
    resend.show("Hello", 3)
    resend.broke()
    assert resend.rest("Hello, you.") == (", you.", False)
    assert resend.continues == 3
    assert not resend.expecting


def test_a_text_that_does_not_begin_like_that_may_repeat():
    """It is whole, and nothing is compared after it."""
    resend = Resend()
    resend.show("Hello")
    resend.broke()
    assert resend.rest("Hel") == ("Hel", True)
    assert not resend.expecting


def test_texts_that_were_apart_may_come_again_as_one():
    """Joined as they are, both are known."""
    resend = Resend()
    resend.show("One.")
    resend.show("Two.")
    resend.broke()
    assert resend.rest("One.Two.Three.") == ("Three.", False)


def test_a_second_break_expects_everything_shown_so_far():
    """What came again once, and what had not yet."""
    resend = Resend()
    resend.show("A")
    resend.show("B")
    resend.broke()
    resend.show("A" + resend.rest("A")[0])
    resend.broke()
    assert [resend.rest("A"), resend.rest("B")] == [("", False), ("", False)]


def test_texts_before_a_call_are_known_only_word_for_word():
    """And without a notice, for they are probably of an earlier response."""
    resend = Resend()
    resend.show("Before.", 1)
    resend.show("After.", 2)
    resend.broke(settled=1)
    assert resend.rest("Before.") == ("", False)
    assert resend.rest("After. More.") == (" More.", False)
    resend.settle()
    resend.show("Before.", 1)
    resend.broke(settled=1)
    assert resend.rest("Before. More.") == ("Before. More.", False)


def test_a_text_shown_once_is_passed_over_once():
    """The same words a second time are news, also where they may be of an earlier response."""
    resend = Resend()
    resend.show("Same.", 1)
    resend.broke(settled=1)
    assert resend.rest("Same.") == ("", False)
    assert not resend.expecting


def test_a_text_that_came_again_passes_over_those_before_it():
    """What is sent again keeps its order, so an earlier text after a later one is news."""
    resend = Resend()
    for block, text in enumerate(("A.", "B.", "C."), 1):
        resend.show(text, block)
    resend.broke(settled=2)
    assert [resend.rest("B."), resend.rest("A.")] == [("", False), ("A.", True)]
    resend.settle()
    resend.show("A.", 1)
    resend.show("B.", 2)
    resend.broke(settled=1)
    assert resend.rest("B.") == ("", False)
    assert not resend.expecting


def test_what_came_again_is_expected_a_third_time_only_of_the_same_response():
    """Texts before a call: a second break of the response brings them again, a break of the next one does not."""
    for once_more in (True, False):
        resend = Resend()
        resend.show("Before.", 1)
        resend.broke(settled=1, once_more=False)
        resend.rest("Before.")
        resend.show("Before.", 0)
        resend.broke(settled=1, once_more=once_more)
        assert resend.expecting is once_more


@given(st.lists(st.text(min_size=1, max_size=4), max_size=5), st.integers(0, 5), st.integers(0, 4))
def test_a_response_sent_again_word_for_word_is_on_the_screen_once(texts, whole, cut):
    """However much of it had arrived: some texts whole, one in part."""
    shown = [*texts[:whole], *(text[:cut] for text in texts[whole : whole + 1] if text[:cut])]
    resend = Resend()
    for text in shown:
        resend.show(text)
    resend.broke()
    rests = [resend.rest(text) if resend.expecting else (text, False) for text in texts]
    assert "".join(shown) + "".join(rest for rest, _ in rests) == "".join(texts)
    assert not any(repeats for _, repeats in rests)
