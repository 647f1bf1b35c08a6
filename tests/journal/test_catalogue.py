"""The list of conversations and the search through them: made from the journals, kept up with them, made again."""

import os
import sqlite3
import subprocess
import sys
import threading

import pytest

from sightline.exceptions import UserMistake
from sightline.journal import Entry, Store
from sightline.journal.catalogue._catalogue import SessionCatalogue
from tests.journal.conversations import Talk, assistant, user


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


def conversation(store, prompt, answer="ok", *commands, time=1.0, **header):
    talk = Talk(store, **header)
    talk.step(user(prompt), time=time)
    talk.step(assistant(answer, *commands, model="m-1"), time=time + 1)
    return talk.close()


def found(store, words, **where):
    return [hit.session.id for hit in store.search(words, **where)]


def test_a_conversation_is_listed_with_what_a_person_knows_it_by(store):
    """Where, when, how long, with whom, how it began and ended."""
    id = conversation(store, "fix  the\ntest", "it is fixed", cwd="/x", title="a title")
    (record,) = store.conversations()
    assert (record.id, record.cwd, record.title, record.messages) == (id, "/x", "a title", 2)
    assert (record.model, record.first_prompt, record.last_text) == ("m-1", "fix the test", "it is fixed")
    assert record.changed >= record.created > 0
    assert not record.running


def test_sessions_of_commands_are_not_conversations(store):
    """They are in the list of jobs."""
    store.create().close()
    talk = Talk(store)
    talk.say("words of a command")
    talk.close()
    assert store.conversations() == []


def test_those_that_changed_last_come_first(store):
    """Whenever they began."""
    soon = 4e9  # later than the sessions themselves, which begin now
    old = conversation(store, "a", time=soon)
    new = conversation(store, "b", time=soon + 10)
    assert [record.id for record in store.conversations()] == [new, old]
    writer, tree = store.reopen(old)
    writer.append([Entry(id=tree.next_id(), parent=tree.leaf, time=soon + 20, message=user("more"))])
    writer.close()
    assert [record.id for record in store.conversations()] == [old, new]
    assert [record.id for record in store.conversations(limit=1)] == [old]


def test_those_of_one_folder(store):
    """`last_in` is the one that is gone on with there."""
    soon = 4e9
    conversation(store, "a", cwd="/x", time=soon)
    here = conversation(store, "b", cwd="/y", time=soon + 1)
    last = conversation(store, "c", cwd="/y", time=soon + 2)
    conversation(store, "d", cwd="/x", time=soon + 3)
    assert [record.id for record in store.conversations("/y")] == [last, here]
    assert store.last_in("/y") == last
    assert store.last_in("/nowhere") is None


def test_a_running_one_is_marked(store):
    """Asked of the lock each time, never remembered."""
    talk = Talk(store)
    talk.step(user("a"))
    assert [record.running for record in store.conversations()] == [True]
    talk.close()
    assert [record.running for record in store.conversations()] == [False]


def test_words_are_found_where_they_were_said(store):
    """By the person, by the model, in a command, in the title; all of the words, beginnings of words, any case."""
    one = conversation(store, "Why is the parser slow?", "The tokenizer copies.", "hyperfine ./parse", title="Speed")
    other = conversation(store, "rename the parser", "done")
    assert found(store, "slow PARSER") == [one]
    assert found(store, "tokenizer copies") == [one]
    assert found(store, "hyperf") == [one]
    assert found(store, "speed") == [one]
    assert sorted(found(store, "parser")) == sorted([one, other])
    assert found(store, "parser nowhere") == []


def test_a_hit_says_where_and_shows_the_words(store):
    """The entry, and a snippet with what was looked for marked."""
    conversation(store, "hello", "the needle is here")
    (hit,) = store.search("needle")
    assert (hit.entry, hit.snippet) == ("e2", "the \x02needle\x03 is here")


def test_the_best_come_first_and_a_title_counts_more(store):
    """Ranked, not by date."""
    weak = conversation(store, "needle " + "hay " * 200)
    titled = conversation(store, "x", "y", title="the needle")
    strong = conversation(store, "needle needle needle")
    ranked = found(store, "needle")
    assert ranked[0] == titled
    assert ranked.index(strong) < ranked.index(weak)
    assert found(store, "needle", limit=1) == [titled]


@pytest.mark.parametrize(
    "words", ['"', "a OR", "NEAR(", "*", "-x", "a:b", "'; DROP TABLE sessions", "(", "", "^", "\x00"]
)
def test_whatever_is_looked_for_is_words(store, words):
    """The query language of the index is nobody's business."""
    conversation(store, "plain words")
    store.search(words)
    assert len(store.conversations()) == 1


def test_only_what_is_new_is_read(store, monkeypatch):
    """A journal is read on from where it was read to."""
    id = conversation(store, "first words")
    store.conversations()
    writer, tree = store.reopen(id)
    writer.append([Entry(id="e3", parent=tree.leaf, message=user("second words"))])
    writer.close()
    path = store.folder(id) / "journal.jsonl"
    data = path.read_bytes()
    path.write_bytes(data.replace(b"first words", b"other words"))  # would be seen if it were read again
    assert store.conversations()[0].messages == 3
    assert (found(store, "second"), found(store, "other")) == ([id], [])


def test_a_journal_that_is_not_the_one_it_was_is_read_again(store):
    """Shorter than what was read of it: nothing of it can be trusted."""
    id = conversation(store, "first words", "second words")
    store.conversations()
    path = store.folder(id) / "journal.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:3]))
    assert [record.messages for record in store.conversations()] == [1]
    assert (found(store, "first"), found(store, "second")) == ([id], [])


def test_a_half_written_line_is_read_once_it_is_whole(store):
    """Whoever lists while somebody writes sees whole entries."""
    talk = Talk(store)
    talk.step(user("a"))
    line = b'{"kind":"entry","id":"e2","parent":"e1","message":{"role":"user","parts":[{"type":"text","text":"b"}]}}\n'
    with (talk.writer.folder / "journal.jsonl").open("ab", buffering=0) as file:
        file.write(line[:40])
        assert store.conversations()[0].messages == 1
        file.write(line[40:])
    assert store.conversations()[0].messages == 2


def test_deleted_sessions_are_forgotten(store):
    """In the list and in the search."""
    gone, kept = conversation(store, "needle one"), conversation(store, "needle two")
    assert len(found(store, "needle")) == 2
    store.remove(gone)
    assert [record.id for record in store.conversations()] == [kept]
    assert found(store, "needle") == [kept]


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.unlink(),
        lambda path: path.write_bytes(b"this is no database" * 1000),
        lambda path: path.write_bytes(path.read_bytes()[:5000]),
        lambda path: path.write_bytes(b""),
        lambda path: sqlite3.connect(path).execute("PRAGMA user_version = 99").connection.close(),
        lambda path: sqlite3.connect(path).execute("DROP TABLE sessions").connection.close(),
    ],
    ids=["missing", "garbage", "cut off", "empty", "another version", "a table is gone"],
)
def test_an_index_that_is_of_no_use_is_made_again(store, tmp_path, damage):
    """It is never the only place of anything."""
    id = conversation(store, "needle")
    assert found(store, "needle") == [id]
    store.catalogue.close()
    damage(tmp_path / "conversations.sqlite")
    again = Store(tmp_path)
    assert [record.id for record in again.conversations()] == [id]
    assert found(again, "needle") == [id]


def test_without_a_place_for_an_index_the_list_is_the_same(store, tmp_path):
    """A folder that may only be read: this process makes its own, for itself."""
    id = conversation(store, "needle")
    (tmp_path / "conversations.sqlite").mkdir()
    assert found(store, "needle") == [id]
    assert [record.id for record in store.conversations()] == [id]


def test_only_the_owner_may_read_it(store, tmp_path):
    """It has what was said in it."""
    conversation(store, "secret")
    store.conversations()
    for path in tmp_path.glob("conversations.sqlite*"):
        assert path.stat().st_mode & 0o077 == 0


def test_catching_up_takes_bounded_time(store, tmp_path):
    """What is left is said, and read by the next one; the newest come first."""
    ids = [conversation(store, f"number {number}") for number in range(3)]
    for age, id in enumerate(reversed(ids)):
        os.utime(store.folder(id) / "journal.jsonl", (1000 - age, 1000 - age))
    ticks = iter(range(1000))
    slow = SessionCatalogue(tmp_path / "slow.sqlite", tmp_path / "sessions", clock=lambda: float(next(ticks)))
    slow.catch_up(seconds=2.0)
    assert 0 < slow.behind < 3
    assert ids[-1] in [record.id for record in slow.conversations(None, None)]
    for _ in range(3):
        slow.catch_up(seconds=2.0)
    assert slow.behind == 0
    assert len(slow.conversations(None, None)) == 3


def test_a_session_can_be_noted_when_it_ends(store, tmp_path):
    """The host does, so that the next list has nothing to catch up with."""
    id = conversation(store, "needle")
    store.catalogue.note(id)
    assert [record.id for record in store.catalogue.conversations(None, None)] == [id]
    store.catalogue.note("zzzzzz")  # there is none: nothing happens


def test_many_processes_may_catch_up_at_once(store, tmp_path):
    """Nothing is counted twice and nobody fails."""
    ids = {conversation(store, f"needle {number}") for number in range(40)}
    look = (
        "import sys; from pathlib import Path; from sightline.journal import Store; s = Store(Path(sys.argv[1]))\n"
        "for _ in range(5): print(len(s.search('needle')), sum(r.messages for r in s.conversations()))"
    )
    children = [
        subprocess.Popen([sys.executable, "-c", look, str(tmp_path)], stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    said = [child.communicate(timeout=60)[0].splitlines() for child in children]
    assert [child.returncode for child in children] == [0] * 4
    assert {lines[-1] for lines in said} == {"40 80"}
    assert {record.id for record in store.conversations()} == ids


def test_a_writer_that_holds_the_index_does_not_stop_a_list(store, tmp_path, monkeypatch):
    """What is known has to do, and what is not is said to be behind."""
    id = conversation(store, "one")
    store.conversations()
    monkeypatch.setattr("sightline.journal.catalogue._file._SECONDS_TO_WAIT", 0.05)
    blocked = Store(tmp_path)
    assert len(blocked.conversations()) == 1
    holder = sqlite3.connect(tmp_path / "conversations.sqlite", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    conversation(store, "two")
    assert [record.id for record in blocked.conversations()] == [id]
    assert blocked.catalogue.behind == 1
    holder.execute("ROLLBACK")
    holder.close()
    assert len(blocked.conversations()) == 2


def test_a_journal_that_grows_meanwhile_is_read_to_the_end_in_the_end(store):
    """Somebody writes while somebody lists: nothing is missed."""
    talk = Talk(store)

    def write():
        for number in range(200):
            talk.step(user(f"needle {number}"))

    writing = threading.Thread(target=write)
    writing.start()
    while writing.is_alive():
        store.conversations()
    writing.join()
    assert store.conversations()[0].messages == 200


def test_a_session_is_found_by_the_beginning_of_its_id(store, monkeypatch):
    """Or by `-`, the last here; whatever cannot be meant is said."""
    id = conversation(store, "a", cwd="/x")
    assert store.find_conversation(id, "/y") == id
    assert store.find_conversation(id[:4], "/y") == id
    assert store.find_conversation("-", "/x") == id
    for text, said in (("-", "no session in this folder"), ("zzz0", "no session"), ("../..", "no session")):
        with pytest.raises(UserMistake, match=said) as mistake:
            store.find_conversation(text, "/y")
        assert "sightline sessions" in mistake.value.hint
    talk = Talk(store)
    with pytest.raises(UserMistake, match="has no conversation"):
        store.find_conversation(talk.close(), "/y")
    with pytest.raises(UserMistake, match="the id of the session is empty"):
        store.find_conversation("", "/y")
    monkeypatch.setattr(store, "sessions", lambda: ["k3m9qz", "k3m9qy"])
    with pytest.raises(UserMistake, match="could be any of: k3m9qy, k3m9qz"):
        store.find_conversation("k3m", "/y")


def test_it_may_be_used_from_any_thread_and_after_a_fork(store):
    """A host notes its session off the event loop, and is itself a fork of whoever listed."""
    id = conversation(store, "needle")
    assert found(store, "needle") == [id]
    seen = []
    other = threading.Thread(target=lambda: seen.append(found(store, "needle")))
    other.start()
    other.join()
    assert seen == [[id]]
    child = os.fork()
    if child == 0:
        os._exit(0 if found(store, "needle") == [id] else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert found(store, "needle") == [id]
