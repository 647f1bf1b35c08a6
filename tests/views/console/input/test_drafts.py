"""What was written and not sent: kept for its session, and back after a crash."""

import asyncio
import errno
import os
import stat

import pytest

from sightline import locks
from sightline.views.console.input import Drafts, PromptDraft, _drafts

from .support import FakeDesk, paste, png, press, prompt_editor, until

SESSION = "20260101-abc"


@pytest.fixture
def drafts(tmp_path):
    return Drafts(tmp_path / "kept")


@pytest.fixture
def desk(tmp_path, monkeypatch):
    monkeypatch.setattr(_drafts, "_EVERY", 0.0)
    return FakeDesk(tmp_path)


def test_a_draft_comes_back_and_is_private(drafts, tmp_path):
    """In a file of its own, for its owner alone; an empty one is no file."""
    drafts.save(SESSION, PromptDraft("half a thought\n日本"))
    [file] = (tmp_path / "kept" / "drafts").iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert drafts.load(SESSION) == PromptDraft("half a thought\n日本")
    assert drafts.load("another") == PromptDraft()
    drafts.save(SESSION, PromptDraft())
    assert list((tmp_path / "kept" / "drafts").iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b'{"text": 5}'])
def test_a_broken_draft_is_no_draft(drafts, tmp_path, content):
    """It costs what it held, never the console."""
    (tmp_path / "kept" / "drafts").mkdir(parents=True)
    (tmp_path / "kept" / "drafts" / f"{SESSION}.json").write_bytes(content)
    assert drafts.load(SESSION) == PromptDraft()


@pytest.mark.parametrize("session", ["", "../escape", "a/b", "x" * 200])
def test_a_name_that_is_none_leaves_the_folder_alone(drafts, tmp_path, session):
    """Only what could be a session's id names a file."""
    drafts.save(session, PromptDraft("text"))
    assert not (tmp_path / "kept").exists()


def test_only_so_many_are_kept(drafts, tmp_path, monkeypatch):
    """Those touched longest ago go."""
    monkeypatch.setattr(_drafts, "MOST_DRAFTS", 3)
    for number in range(5):
        drafts.save(f"s{number}", PromptDraft("text"))
        os.utime(tmp_path / "kept" / "drafts" / f"s{number}.json", (number, number))
    assert sorted(path.stem for path in (tmp_path / "kept" / "drafts").iterdir()) == ["s2", "s3", "s4"]


def killed(editor):
    """What the system does for a process that is gone: it has no file open any more."""
    os.close(editor._draft_writer._place.lock)


async def test_what_is_typed_is_kept_without_being_asked(desk, drafts):
    """A console that is killed has left its draft: the next one on that session shows it."""
    editor = prompt_editor(desk)
    await editor.open_draft(drafts, SESSION)
    press(editor, "'half a thought")
    await until(lambda: drafts.load(SESSION).text == "half a thought")
    killed(editor)
    after = prompt_editor(desk)
    await after.open_draft(drafts, SESSION)
    assert after.text == "half a thought"
    await desk.settled()


async def test_consoles_of_one_session_have_a_draft_each(desk, drafts):
    """Nobody finds another's words in their editor; clearing one's own does not cost the other's."""
    first, second = prompt_editor(desk), prompt_editor(desk)
    await first.open_draft(drafts, SESSION)
    press(first, "'mine")
    await desk.settled()
    await second.open_draft(drafts, SESSION)
    assert second.text == ""
    press(second, "'theirs")
    await desk.settled()
    second.set_text("")
    await desk.settled()
    killed(first)
    after = prompt_editor(desk)
    await after.open_draft(drafts, SESSION)
    assert after.text == "mine"
    await desk.settled()


async def test_what_the_second_console_left_is_found_by_the_next_one(desk, drafts):
    """A place that holds something comes before one that is empty."""
    first, second = prompt_editor(desk), prompt_editor(desk)
    for editor in (first, second):
        await editor.open_draft(drafts, SESSION)
    press(second, "'left behind")
    await desk.settled()
    killed(first)
    killed(second)
    after = prompt_editor(desk)
    await after.open_draft(drafts, SESSION)
    assert after.text == "left behind"
    await desk.settled()


async def test_an_end_leaves_no_lock(desk, drafts, tmp_path):
    """Only what was written stays in the folder; and a tenth console writes all the same."""
    editors = [prompt_editor(desk) for _ in range(10)]
    for editor in editors:
        await editor.open_draft(drafts, SESSION)
    press(editors[0], "'kept")
    press(editors[9], "'not kept")
    await desk.settled()
    assert (editors[9].text, desk.told) == ("not kept", [])
    for editor in editors:
        editor.close()
    assert [path.name for path in (tmp_path / "kept" / "drafts").iterdir()] == [f"{SESSION}.json"]


async def test_a_session_that_is_left_and_come_back_to_at_once_has_one_place(desk, drafts, tmp_path):
    """Its draft is there once, is written where it was, and nothing stays locked."""
    drafts.save(SESSION, PromptDraft("half a thought"))
    editor = prompt_editor(desk)
    await asyncio.gather(*(editor.open_draft(drafts, session) for session in (SESSION, "another", SESSION)))
    await desk.settled()
    assert editor.text == "half a thought"
    editor.close()
    assert [path.name for path in (tmp_path / "kept" / "drafts").iterdir()] == [f"{SESSION}.json"]


def test_a_console_that_comes_while_another_leaves_gets_its_place(drafts, tmp_path, monkeypatch):
    """Also when the lock is taken away between looking at it and having it: the draft is not passed by."""
    drafts.save(SESSION, PromptDraft("half a thought"))
    acquire, leaving = locks.acquire, [tmp_path / "kept" / "drafts" / f".{SESSION}.lock"]

    def late(lock, kind):
        if leaving:
            leaving.pop().unlink()
        return acquire(lock, kind)

    monkeypatch.setattr(locks, "acquire", late)
    place = drafts.claim(SESSION)
    assert place.name == SESSION
    assert drafts.claim(SESSION).name == f"{SESSION}.1"
    place.release()


def test_a_file_system_without_locks_keeps_drafts_all_the_same(drafts, monkeypatch):
    """For one console; and no file stays open for each try."""

    def refuse(lock, kind):
        raise OSError(errno.ENOLCK, "no locks available")

    monkeypatch.setattr(locks, "acquire", refuse)
    drafts.claim(SESSION)
    before = len(os.listdir("/dev/fd"))
    assert drafts.claim(SESSION).name == SESSION
    assert len(os.listdir("/dev/fd")) == before


async def test_what_was_sent_is_no_draft_any_more(desk, drafts):
    """Nothing comes back that the agent has."""
    editor = prompt_editor(desk)
    await editor.open_draft(drafts, SESSION)
    press(editor, "'hello", "enter")
    await desk.settled()
    assert drafts.load(SESSION) == PromptDraft()


async def test_attachments_come_back_if_their_files_are_there(desk, drafts, tmp_path):
    """With the name they had."""
    for name in ("one.png", "two.png"):
        (tmp_path / name).write_bytes(png())
    editor = prompt_editor(desk)
    await editor.open_draft(drafts, SESSION)
    paste(editor, f"{tmp_path / 'one.png'} {tmp_path / 'two.png'}")
    await desk.settled()
    (tmp_path / "one.png").unlink()
    killed(editor)
    after = prompt_editor(desk)
    await after.open_draft(drafts, SESSION)
    assert [attachment.name for attachment in after.attachments] == ["two.png"]
    await desk.settled()


async def test_keys_typed_before_the_draft_was_read_are_kept_too(desk, drafts):
    """The draft stands before them, and typing goes on at the end."""
    drafts.save(SESSION, PromptDraft("from before"))
    editor = prompt_editor(desk)
    press(editor, "'early")
    await editor.open_draft(drafts, SESSION)
    press(editor, "'!")
    assert editor.text == "from before\n\nearly!"
    await desk.settled()


async def test_a_text_goes_along_to_another_session(desk, drafts):
    """It is kept once, where it is; and the same session again changes nothing."""
    drafts.save("other", PromptDraft("theirs"))
    editor = prompt_editor(desk)
    await editor.open_draft(drafts, SESSION)
    press(editor, "'mine")
    await editor.open_draft(drafts, SESSION)
    assert editor.text == "mine"
    await editor.open_draft(drafts, "other")
    await desk.settled()
    assert editor.text == "theirs\n\nmine"
    assert (drafts.load(SESSION), drafts.load("other").text) == (PromptDraft(), "theirs\n\nmine")


async def test_the_last_key_before_the_end_is_kept(desk, drafts, monkeypatch):
    """Closing writes what was not written yet."""
    monkeypatch.setattr(_drafts, "_EVERY", 3600.0)
    editor = prompt_editor(desk)
    await editor.open_draft(drafts, SESSION)
    press(editor, "'a")
    await until(lambda: drafts.load(SESSION).text == "a")
    press(editor, "'b")
    editor.close()
    assert drafts.load(SESSION).text == "ab"
    for task in desk.tasks:
        task.cancel()


async def test_a_disk_that_takes_nothing_is_said_once(desk, tmp_path):
    """And typing goes on."""
    (tmp_path / "file").write_text("x")
    editor = prompt_editor(desk)
    await editor.open_draft(Drafts(tmp_path / "file"), SESSION)
    press(editor, "'hello")
    await desk.settled()
    press(editor, "'!")
    await desk.settled()
    assert (editor.text, len(desk.told)) == ("hello!", 1)


async def test_a_thread_that_is_late_does_not_bring_a_draft_back(drafts, desk, monkeypatch):
    """Found under load: what was sent just before leaving came back as a draft, written after its end."""
    import asyncio
    import threading

    release, began = threading.Event(), threading.Event()
    save = Drafts.save

    def slow(kept, session, draft):
        if draft.text == "/detach":
            began.set()
            release.wait(5)
        return save(kept, session, draft)

    monkeypatch.setattr(Drafts, "save", slow)
    tasks: list[asyncio.Task[object]] = []
    spawn = lambda work: tasks.append(asyncio.ensure_future(work))  # noqa: E731
    keeper = _drafts.DraftWriter(drafts, drafts.claim(SESSION), spawn, lambda problem: None)
    keeper.changed(PromptDraft("/detach"))
    await asyncio.to_thread(began.wait, 5)
    keeper.changed(PromptDraft())
    flushed = asyncio.ensure_future(asyncio.to_thread(keeper.flush))
    release.set()
    await flushed
    await asyncio.gather(*tasks)
    assert drafts.load(SESSION) == PromptDraft()


def test_a_draft_of_a_session_that_was_never_used_is_taken_over_in_its_folder(tmp_path):
    """By the next new session there, once; not by one with a conversation, nor in another folder."""
    drafts = Drafts(tmp_path)
    used = {"old"}.__contains__
    for session, text, cwd in (("old", "of old", "/p"), ("unused", "never sent", "/p"), ("other", "elsewhere", "/q")):
        place = drafts.claim(session)
        assert drafts.save(place.name, PromptDraft(text, [], cwd)) == ""
        place.release()
    assert drafts.take_over("old", "/p", used) == PromptDraft()
    assert drafts.take_over("new", "/p", used).text == "never sent"
    assert drafts.take_over("new2", "/p", used) == PromptDraft()
    assert drafts.load("old").text == "of old"


def test_a_draft_somebody_is_writing_is_not_taken_over(tmp_path):
    """Another console has it open."""
    drafts = Drafts(tmp_path)
    place = drafts.claim("open")
    drafts.save(place.name, PromptDraft("being written", [], "/p"))
    assert drafts.take_over("new", "/p", lambda session: False) == PromptDraft()
    place.release()
