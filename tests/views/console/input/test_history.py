"""What was written in all sessions: the file, the keys that go back to it, and the search."""

import stat
import threading

import pytest

from sightline.secrets import Secrets
from sightline.tty import CURSOR, Key, measure
from sightline.views.console.input import PromptHistory, PromptSearch, _history
from sightline.views.console.input._history import StoredPrompt

from .support import FakeDesk, drawing, press, prompt_editor, shown


@pytest.fixture
def history(tmp_path):
    return PromptHistory(tmp_path / "kept")


def texts(history: PromptHistory) -> list[str]:
    return [entry.text for entry in history.entries()]


def test_what_was_written_is_there_for_the_next_session(history, tmp_path):
    """Oldest first, with when and where; the file is for its owner alone."""
    history.add("first", "/a")
    history.add("second\nline", "/b")
    again = PromptHistory(tmp_path / "kept")
    assert [(entry.text, entry.cwd) for entry in again.entries()] == [("first", "/a"), ("second\nline", "/b")]
    assert stat.S_IMODE((tmp_path / "kept" / "prompts.jsonl").stat().st_mode) == 0o600


def test_the_same_text_counts_once_as_the_newest(history):
    """Repetition makes no list longer."""
    for text in ("again", "other", "again"):
        history.add(text, "/")
    assert texts(history) == ["other", "again"]


def test_a_line_that_cannot_be_read_costs_that_line_only(history, tmp_path):
    """Torn by a full disk or written by something else: the next prompt is kept whole."""
    history.add("before", "/")
    with (tmp_path / "kept" / "prompts.jsonl").open("ab") as file:
        file.write(b'{"text": "to')
    history.add("after", "/")
    assert texts(history) == ["before", "after"]


def test_blank_and_endless_prompts_are_not_kept(history):
    """Nobody looks for those."""
    history.add("  \n", "/")
    history.add("x" * 40_000, "/")
    assert texts(history) == []


def test_the_file_does_not_grow_for_ever(history, tmp_path, monkeypatch):
    """Past its bound it is replaced by the newest half, and nothing of that is lost."""
    monkeypatch.setattr(_history, "LARGEST_FILE", 4000)
    for number in range(300):
        history.add(f"prompt number {number}", "/")
    assert (tmp_path / "kept" / "prompts.jsonl").stat().st_size <= 4200
    kept = texts(history)
    assert kept == [f"prompt number {number}" for number in range(300 - len(kept), 300)]
    assert [path.name for path in (tmp_path / "kept").iterdir()] == ["prompts.jsonl"]


def test_consoles_that_write_at_once_lose_nothing(tmp_path, monkeypatch):
    """Each has the file open by itself; one that shortens it meanwhile takes nothing from the others."""
    monkeypatch.setattr(_history, "LARGEST_FILE", 10_000)

    def write(name: str) -> None:
        own = PromptHistory(tmp_path)
        for number in range(60):
            assert own.add(f"{name} {number}", "/") == ""

    threads = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    kept = texts(PromptHistory(tmp_path))
    assert len(kept) > 50
    for name in "abcd":
        numbers = [int(text.split()[1]) for text in kept if text.startswith(name)]
        assert numbers == list(range(60 - len(numbers), 60))


def test_a_folder_that_cannot_be_written_is_told(tmp_path):
    """What went wrong, in words; nothing is raised."""
    (tmp_path / "file").write_text("x")
    assert "not stored" in PromptHistory(tmp_path / "file").add("hello", "/")


async def test_up_goes_back_to_earlier_sessions(tmp_path, history):
    """What was written before this console was there comes after what was written in it."""
    history.add("yesterday", "/")
    desk = FakeDesk(tmp_path)
    editor = prompt_editor(desk, history=history)
    editor.set_text("today")
    press(editor, "enter")
    await editor.recall()
    press(editor, "up")
    assert editor.text == "today"
    press(editor, "up")
    assert editor.text == "yesterday"
    await desk.settled()


async def test_trouble_with_the_file_is_said_once(tmp_path):
    """Not at each prompt."""
    (tmp_path / "file").write_text("x")
    desk = FakeDesk(tmp_path)
    editor = prompt_editor(desk, history=PromptHistory(tmp_path / "file"))
    for text in ("one", "two"):
        editor.set_text(text)
        press(editor, "enter")
        await desk.settled()
    assert len(desk.told) == 1


async def test_the_search_puts_a_prompt_into_the_editor(tmp_path, history):
    """ctrl+r asks; the answer is the text, lines and all."""
    history.add("make it\nblue", "/")
    desk = FakeDesk(tmp_path)
    desk.answer = "make it\nblue"
    editor = prompt_editor(desk, history=history)
    press(editor, "'blu", "ctrl+r")
    await desk.settled()
    assert isinstance(desk.asked[0], PromptSearch)
    assert editor.text == "make it\nblue"


async def test_leaving_the_search_leaves_the_text(tmp_path, history):
    """No answer is no change."""
    desk = FakeDesk(tmp_path)
    editor = prompt_editor(desk, history=history)
    press(editor, "'being written", "ctrl+r")
    await desk.settled()
    assert editor.text == "being written"


NOW = 1_000_000.0
PROMPTS = [
    StoredPrompt("fix the parser", NOW - 90_000, "/home/me/parser"),
    StoredPrompt("rename the\nmodule", NOW - 7200, "/home/me/site"),
    StoredPrompt("!make test", NOW - 120, "/home/me/site"),
    StoredPrompt("why?", NOW - 1, "/"),
]


@pytest.fixture
def search():
    made = PromptSearch(PROMPTS, drawing(clock=lambda: NOW))
    made.answers = []
    made.done = made.answers.append
    made.focused = True
    return made


def type_into(component, text: str) -> None:
    for letter in text:
        component.handle_input(Key(letter, text=letter))


def test_prompts_are_listed_newest_first_with_age_and_folder(search):
    """So that one knows which of two alike it is."""
    rows = [" ".join(row.split()) for row in shown(search)]
    assert rows[0] == "earlier prompts"
    assert rows[2:6] == [
        "› why? just now",
        "!make test 2 min ago · site",
        "rename the module 2 h ago · site",
        "fix the parser 1 d ago · parser",
    ]


def test_letters_narrow_and_enter_takes(search):
    """Fuzzy: letters in order are enough. The whole text is the answer, not its first line."""
    type_into(search, "rnmod")
    search.handle_input(Key("enter"))
    assert search.answers == ["rename the\nmodule"]


def test_the_key_again_goes_to_an_older_one(search):
    """As in a shell."""
    search.handle_input(Key("r", ctrl=True))
    search.handle_input(Key("enter"))
    assert search.answers == ["!make test"]


@pytest.mark.parametrize("key", [Key("escape"), Key("c", ctrl=True)])
def test_escape_and_ctrl_c_leave(search, key):
    """With no answer."""
    search.handle_input(key)
    assert search.answers == [None]


def test_what_is_in_the_editor_is_looked_for_at_once():
    """But only when it finds something: a draft that was never sent hides nothing."""
    assert "rename" in shown(PromptSearch(PROMPTS, drawing(clock=lambda: NOW), query="module"))[2]
    assert "why?" in shown(PromptSearch(PROMPTS, drawing(clock=lambda: NOW), query="zzz"))[2]


def test_an_empty_history_says_so():
    """Nothing to choose, and a way out."""
    made = PromptSearch([], drawing())
    assert "nothing was written yet" in shown(made)[2]


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_hostile_prompts_fit_and_stay_text(width):
    """Whatever is in the file: rows fit, and nothing drives the terminal."""
    made = PromptSearch(
        [StoredPrompt("\x1b]0;owned\x07日本語" * 40, 0, "/\x1b[2J"), StoredPrompt("👨‍👩‍👧‍👦" * 50, NOW + 5, "/x")],
        drawing(clock=lambda: NOW),
    )
    for row in made.render(width):
        plain = row.replace(CURSOR, "")
        assert measure(plain) <= width
        assert "\x1b]" not in plain
        assert "\x07" not in plain
    assert made.render(width) is made.render(width)


def test_secrets_are_masked_in_the_file(tmp_path):
    """What a person typed goes to the model masked; it is not kept beside that as it was."""
    history = PromptHistory(tmp_path, Secrets({"MY_API_KEY": "sk-live-0123456789"}).masked)
    history.add("use sk-live-0123456789 for it", "/")
    assert texts(history) == ["use [secret MY_API_KEY] for it"]
    assert "0123456789" not in (tmp_path / "prompts.jsonl").read_text()
