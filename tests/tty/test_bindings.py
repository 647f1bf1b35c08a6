"""Which keys do what, and what becomes of a person's mistakes."""

import pytest

from sightline.tty.input._bindings import DEFAULT_ACTIONS, Binding, Bindings
from sightline.tty.input._keys import Key, Paste


def test_the_defaults_have_no_problems():
    """Every default key can be read, and none does two things in one place but by design."""
    assert Bindings().problems == []
    assert Bindings().keys("submit") == ("enter",)
    assert set(Bindings().actions()) == set(DEFAULT_ACTIONS)
    assert "select_up" in Bindings().actions("select")


def test_defaults_that_share_a_key_are_these():
    """Sharing by design is a list somebody looked at."""
    shared = set()
    keys = Bindings().keys
    for one, action in DEFAULT_ACTIONS.items():
        for other, second in DEFAULT_ACTIONS.items():
            together = action.scope == second.scope or "app" in (action.scope, second.scope)
            if one < other and together:
                shared |= {(key, one, other) for key in set(keys(one)) & set(keys(other))}
    assert shared == {
        ("ctrl+d", "delete_forward", "exit"),
        ("escape", "complete_cancel", "interrupt"),
        ("escape", "complete_cancel", "vim_normal"),
        ("escape", "interrupt", "select_cancel"),
        ("escape", "interrupt", "vim_normal"),
    }


def test_an_override_replaces_the_keys_of_its_action():
    """A text, a list, or none at all."""
    bindings = Bindings({"submit": "ctrl+x", "newline": ["Enter", "alt+return"], "undo": []})
    assert bindings.problems == []
    assert bindings.keys("submit") == ("ctrl+x",)
    assert bindings.keys("newline") == ("enter", "alt+enter")
    assert bindings.keys("undo") == ()
    assert bindings.matches(Key("x", ctrl=True), "submit")
    assert bindings.matches(Key("x", ctrl=True, kind="repeat"), "submit")
    assert not bindings.matches(Key("x", ctrl=True, kind="release"), "submit")
    assert not bindings.matches(Key("enter"), "submit")
    assert not bindings.matches(Paste("x"), "submit")


@pytest.mark.parametrize(
    ("overrides", "problem"),
    [
        ({"submitt": "x"}, "unknown action 'submitt'. Did you mean 'submit'?"),
        ({"submit": "ctrl+entr"}, "submit: 'entr' in 'ctrl+entr' is not a key. Did you mean 'enter'?"),
        ({"submit": 5}, "submit: keys are a string or a list of strings, for example 'ctrl+x'. Left unchanged"),
        ({"submit": [5]}, "submit: the key is empty. Write for example 'ctrl+x' or 'f5'"),
        ({"yank": "ctrl+c"}, "ctrl+c means both yank and interrupt: give one of them another key"),
        ({"yank": "ctrl+k"}, "ctrl+k means both kill_line and yank: give one of them another key"),
    ],
)
def test_a_mistake_is_reported_and_costs_nothing_else(overrides, problem):
    """Nothing is raised; the action keeps its keys unless some of the new ones are good."""
    bindings = Bindings(overrides)
    assert bindings.problems == [problem]
    assert bindings.matches(Key("enter"), "submit")


def test_a_key_may_mean_different_things_in_different_places():
    """The editor's up and a list's up are no conflict."""
    assert Bindings({"select_cancel": "ctrl+k"}).problems == []


def test_an_application_brings_its_own_actions():
    """The table is a parameter."""
    bindings = Bindings({"wave": "f5"}, {"wave": Binding("app", ("f2",))})
    assert bindings.matches(Key("f5"), "wave")
