"""Completions below the editor: asked, narrowed, accepted."""

import os

from sightline.tty.components._select import Item
from sightline.tty.components.editor import (
    CompletionRequest,
    Completions,
    Editor,
    FileCompletion,
    StaticCompletion,
)
from sightline.tty.input._keys import Key

from .editor_support import Clock, editor, items, press, shown, type_text

COMMANDS = StaticCompletion("/", items("/help", "/history", "/compact"), only_at_start=True)


def popup(made: Editor) -> list[str]:
    rows = shown(made)
    end = max(number for number, row in enumerate(rows) if row.startswith("─"))
    return [row.strip("› ") for row in rows[end + 1 :]]


def test_typing_opens_a_list_that_narrows_and_tab_accepts():
    """What begins with the trigger is offered, ranked by what follows."""
    made = editor(providers=[COMMANDS])
    press(made, "'/h")
    assert popup(made) == ["/help", "/history"]
    press(made, "'is", "tab")
    assert made.text == "/history"
    assert popup(made) == []


def test_enter_accepts_while_the_list_is_open_and_submits_after():
    """The first enter is the list's, the second the editor's."""
    got = []
    made = editor(providers=[COMMANDS])
    made.on_submit = got.append
    press(made, "'/co", "enter")
    assert (made.text, got) == ("/compact", [])
    press(made, "enter")
    assert got == ["/compact"]


def test_arrows_choose_and_escape_closes():
    """While the list is open up and down are its."""
    made = editor("", providers=[COMMANDS], history=["old"])
    press(made, "'/h", "down", "tab")
    assert made.text == "/history"
    press(made, "ctrl+u", "'/h", "escape")
    assert popup(made) == []
    assert made.text == "/h"
    press(made, "up")
    assert made.text == "old"


def test_nothing_is_offered_elsewhere():
    """Commands stand at the beginning of the text only; moving away closes the list."""
    made = editor(providers=[COMMANDS])
    press(made, "'see /h")
    assert popup(made) == []
    press(made, "ctrl+u", "'x", "ctrl+j", "'/h")
    assert popup(made) == []
    press(made, "ctrl+home", "ctrl+k", "delete", "end", "'e")
    assert popup(made) == ["/help"]
    press(made, "left")
    assert popup(made) == []


def test_tab_accepts_the_only_completion_at_once():
    """There is nothing to choose."""
    made = editor(providers=[COMMANDS])
    press(made, "'/comp", "escape", "tab")
    assert made.text == "/compact"


def test_a_recalled_text_offers_nothing():
    """Up goes on through history although the text looks like the beginning of a command."""
    made = editor(providers=[COMMANDS], history=["oldest", "/h"])
    press(made, "up")
    assert (made.text, popup(made)) == ("/h", [])
    press(made, "up")
    assert made.text == "oldest"


def test_tab_without_completions_is_left_to_others():
    """An application may use it."""
    made = editor("x", providers=[COMMANDS])
    assert not made.handle_input(Key("tab"))


class Slow:
    """A provider that answers when told."""

    def __init__(self):
        self.asked = []

    def complete(self, request, deliver):
        self.asked.append((request, deliver))


def test_providers_are_asked_a_moment_after_the_last_key():
    """Fast typing asks once."""
    clock, slow = Clock(), Slow()
    made = editor(providers=[slow], call_later=clock.call_later)
    type_text(made, "abc")
    assert slow.asked == []
    clock.pass_by(1)
    assert [request.before for request, _ in slow.asked] == ["abc"]


def test_a_late_answer_is_shown_and_a_stale_one_dropped():
    """An answer counts while its question does."""
    clock, slow, renders = Clock(), Slow(), []
    made = editor(providers=[slow], call_later=clock.call_later)
    made.request_render = lambda: renders.append(True)
    type_text(made, "ab")
    clock.pass_by(1)
    type_text(made, "c")
    clock.pass_by(1)
    (_, stale), (_, answer) = slow.asked
    renders.clear()
    stale(Completions(tuple(items("stale")), 2, 0))
    assert (popup(made), renders) == ([], [])
    answer(Completions(tuple(items("abcdef")), 3, 3))
    assert (popup(made), renders) == (["abcdef"], [True])
    press(made, "tab")
    assert made.text == "abcdef"


def test_the_list_narrows_before_the_provider_answers_again():
    """A key is felt at once."""
    clock, slow = Clock(), Slow()
    made = editor(providers=[slow], call_later=clock.call_later)
    type_text(made, "a")
    clock.pass_by(1)
    slow.asked[0][1](Completions(tuple(items("alpha", "arrow")), 1, 1))
    assert popup(made) == ["alpha", "arrow"]
    type_text(made, "r")
    assert popup(made) == ["arrow"]
    assert len(slow.asked) == 1
    type_text(made, " ")
    assert popup(made) == []


def test_a_closed_list_wants_no_answer():
    """What comes after escape does not open it again."""
    clock, slow = Clock(), Slow()
    made = editor(providers=[slow], call_later=clock.call_later)
    type_text(made, "a")
    clock.pass_by(1)
    made.dispose()
    slow.asked[0][1](Completions(tuple(items("alpha")), 1, 1))
    assert popup(made) == []


def test_the_first_provider_that_knows_something_is_shown():
    """Their order is their rank, whoever answers first."""
    one, other = Slow(), Slow()
    made = editor(providers=[one, other])
    type_text(made, "a")
    other.asked[0][1](Completions(tuple(items("a-other")), 1, 1))
    assert popup(made) == ["a-other"]
    one.asked[0][1](Completions(tuple(items("a-one")), 1, 1))
    assert popup(made) == ["a-one"]


def test_what_a_provider_offers_is_cleaned():
    """Names of files can hold anything."""
    made = Editor(providers=[StaticCompletion("/", [Item("/x\x1b]0;t\x07\ry", "/x\x1b]0;t\x07\ny")])])
    type_text(made, "/")
    assert "\x1b" not in "".join(made.render(40))
    press(made, "tab")
    assert made.text == "/x\ny"


def ask(provider, before):
    got = []
    provider.complete(CompletionRequest(before), got.append)
    return got[0] if got else None


def test_files_of_a_folder_are_offered_folders_first(tmp_path):
    """After the trigger, what is in the folder that was typed so far."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "main.py").touch()
    (tmp_path / "readme").touch()
    (tmp_path / ".hidden").touch()
    provider = FileCompletion(str(tmp_path))
    assert [item.label for item in ask(provider, "see @").items] == ["src/", "readme"]
    assert [item.value for item in ask(provider, "see @src/m").items] == ["@src/main.py "]
    assert [item.label for item in ask(provider, "@.").items] == ["src/", ".hidden", "readme"]
    assert ask(provider, "see") is None
    assert ask(provider, "@nowhere/x") is None
    assert ask(provider, "@\0/") is None


def test_accepting_a_folder_goes_on_into_it(tmp_path):
    """A folder is the beginning of a path."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "main.py").touch()
    made = editor(providers=[FileCompletion(str(tmp_path))])
    press(made, "'@sr", "tab")
    assert (made.text, popup(made)) == ("@src/", ["main.py"])
    press(made, "tab")
    assert made.text == "@src/main.py "


def test_a_large_folder_is_read_a_little_at_a_time_and_not_to_its_end(tmp_path, monkeypatch):
    """No key waits for a disk."""
    from sightline.tty.components.editor import _completion

    for number in range(50):
        (tmp_path / f"f{number}").touch()
    monkeypatch.setattr(_completion, "_SLICE", -1.0)
    monkeypatch.setattr(_completion, "_AT_MOST", 30)
    clock, got = Clock(), []
    FileCompletion(str(tmp_path), call_later=clock.call_later).complete(CompletionRequest("@"), got.append)
    assert got == []
    clock.pass_by(1)
    assert len(got[0].items) == 30
    assert len(os.listdir(tmp_path)) == 50
