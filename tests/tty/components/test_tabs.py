"""Tabs: which is active, keys, and what happens when they do not fit."""

from hypothesis import given
from hypothesis import strategies as st

from sightline.tty.cells._width import measure
from sightline.tty.components._tabs import Tabs
from sightline.tty.input._keys import Key


def test_the_active_tab_stands_in_brackets():
    """Never colour alone: it can be told without any."""
    assert list(Tabs(["one", "two", "three"], 1).render(40)) == [" one [two] three "]


def test_keys_go_round():
    """Right and tab forward, left and shift+tab back; past an end comes the other; each change is heard once."""
    heard = []
    tabs = Tabs(["a", "b", "c"], on_change=heard.append)
    tabs.handle_input(Key("right"))
    tabs.handle_input(Key("tab"))
    tabs.handle_input(Key("tab"))
    tabs.handle_input(Key("left"))
    tabs.handle_input(Key("tab", shift=True))
    assert heard == [1, 2, 0, 2, 1]
    assert tabs.active == 1
    assert not tabs.handle_input(Key("x"))


def test_what_does_not_fit_is_beyond_the_marks():
    """The active tab is always seen; marks say on which side there is more, and it scrolls no further than needed."""
    tabs = Tabs(["alpha", "beta", "gamma", "delta"])
    assert list(tabs.render(16)) == ["[alpha] beta  ›"]
    tabs.activate(1)
    assert list(tabs.render(16)) == [" alpha [beta] ›"]
    tabs.activate(2)
    assert list(tabs.render(17)) == ["‹  beta [gamma] ›"]
    tabs.activate(3)
    assert list(tabs.render(17)) == ["‹  gamma [delta]"]
    tabs.activate(0)
    assert list(tabs.render(17)) == ["[alpha] beta  ›"]


def test_in_no_room_the_active_tab_is_all():
    """Cut, but there."""
    assert list(Tabs(["alpha", "beta"]).render(4)) == ["[al…"]


@given(st.lists(st.text("ab宽", max_size=8), min_size=1, max_size=8), st.integers(0, 7), st.integers(8, 40))
def test_the_active_tab_is_always_whole_where_it_fits(labels, active, width):
    """For any labels: the row fits, and the active label is in it unless it alone is too wide."""
    tabs = Tabs(labels)
    tabs.activate(active)
    (row,) = tabs.render(width)
    assert measure(row) <= width
    if measure(labels[tabs.active]) + 6 <= width:
        assert f"[{labels[tabs.active]}]" in row


def test_no_tabs_are_no_rows():
    """Nothing to show; keys do no harm."""
    tabs = Tabs([])
    assert tabs.handle_input(Key("right"))
    assert list(tabs.render(10)) == []
