"""Journals and lists that are damaged, made by somebody else, or changing meanwhile."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sightline.conversation import AssistantMessage, CallPart, TextPart, UserMessage
from sightline.exceptions import OutsideFailure
from sightline.journal import Entry, SessionTree, Store, outline
from sightline.journal._record import decode_entry, encode_entry

SESSION = "abcdef"


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "parts": [{"type": "text", "text": text}]}


def line(**fields: Any) -> bytes:
    return json.dumps({"kind": "entry", **fields}, separators=(",", ":")).encode()


def write(folder: Path, lines: list[bytes], session: str = SESSION, **header: Any) -> Path:
    """A session as a file has it, whoever wrote it."""
    place = folder / "sessions" / session
    place.mkdir(parents=True, exist_ok=True)
    head = json.dumps({"kind": "session", "id": session, "cwd": "/x", "created": 1.0, **header}).encode()
    (place / "journal.jsonl").write_bytes(b"".join(one + b"\n" for one in [head, *lines]))
    return place


ODD = {
    "its own parent": [line(id="e1", parent="e1", message=user("a"))],
    "a circle": [line(id="e1", parent="e2", message=user("a")), line(id="e2", parent="e1", message=user("b"))],
    "a parent that comes later": [line(id="e2", parent="e9", message=user("a")), line(id="e9", message=user("b"))],
    "an id twice": [line(id="e1", message=user("a")), line(id="e1", parent="e1", message=user("b"))],
    "no id": [line(id="", parent="", message=user("a")), line(id="", parent="", message=user("b"))],
    "an id that draws": [line(id="\x1b[2J", message=user("a"))],
    "a move to itself": [line(id="e1", type="leaf", data={"to": "e1"})],
    "a move to nowhere": [line(id="e1", message=user("a")), line(id="e2", type="leaf", data={"to": "e77"})],
    "a move of another kind": [line(id="e1", message=user("a")), line(id="e2", type="leaf", data=["x"])],
    "a compaction that kept nothing": [line(id="e1", type="compaction", data={"summary": "s", "first_kept": "e5"})],
    "a type nobody knows": [line(id="e1", message=user("a")), line(id="e2", parent="e1", type="dream", data={})],
    "a number too large": [line(id="e1", seq=10**30, message=user("a"))],
    "a number below none": [line(id="e1", seq=-5, message=user("a"))],
    "a time that never comes": [line(id="e1", time=1e308, message=user("a"))],
    "too deep": [b'{"kind":"entry","id":"e1","data":' + b"[" * 5000 + b"]" * 5000 + b"}"],
    "no text": [b'{"kind":"entry","id":"e1","custom":"\xff\xfe"}'],
    "half a line": [b'{"kind":"entry","id":"e1"'],
    "half a character": [b'{"kind":"entry","id":"e1","custom":"\\ud83d"}'],
}


@pytest.mark.parametrize("lines", ODD.values(), ids=ODD)
def test_any_journal_can_be_read(tmp_path: Path, lines: list[bytes]) -> None:
    """Whatever its lines say, the tree has an end, and what is whole of it is there."""
    good = line(id="e50", message=user("good words"))
    folder = write(tmp_path, [*lines, good])
    tree = SessionTree.load(folder)
    assert tree.leaf == "e50"
    assert [node.id for node in tree.path()] == ["e50"]
    shown = [each.node.id for each in outline(tree, "all")]
    assert "e50" in shown
    assert len(shown) == len(set(shown)) == len(tree.nodes)
    assert all(node.id.isalnum() for node in tree.nodes.values())
    assert 0 <= tree.last_seq < 2**53
    assert len(tree.messages()) == 1
    assert tree.next_id() not in tree.nodes
    store = Store(tmp_path)
    assert [hit.session.id for hit in store.search("good words")] == [SESSION]
    assert len(store.conversations()) == 1
    for leaf in ("", "e50"):
        assert SessionTree.load(store.folder(store.fork(SESSION, leaf))).leaf == "e50"


def test_one_session_that_cannot_be_read_does_not_hide_the_others(tmp_path: Path) -> None:
    """A folder where a journal should be, a journal without a header, an empty one."""
    write(tmp_path, [line(id="e1", message=user("words"))])
    (tmp_path / "sessions" / "abcdeg" / "journal.jsonl").mkdir(parents=True)
    (tmp_path / "sessions" / "abcdeh").mkdir()
    (tmp_path / "sessions" / "abcdeh" / "journal.jsonl").write_bytes(b"\x00" * 100)
    (tmp_path / "sessions" / "abcdej").mkdir()
    (tmp_path / "sessions" / "abcdej" / "journal.jsonl").touch()
    (tmp_path / "sessions" / "not-one").write_text("")
    assert [record.id for record in Store(tmp_path).conversations()] == [SESSION]


def test_what_we_write_we_can_read() -> None:
    """An entry with halves of characters is kept with signs for them; one too deep is refused, not half kept."""
    half = AssistantMessage([TextPart("a\ud83d"), CallPart("c", "read", {"k\udc00": ["\ud83d"]})])
    read = decode_entry(encode_entry(Entry(id="e1", message=half)).rstrip(b"\n"))
    assert read is not None
    assert isinstance(read.message, AssistantMessage)
    assert read.message.text == "a?"
    deep: Any = "x"
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(OutsideFailure, match="deeply"):
        encode_entry(Entry(id="e1", type="custom", data=deep))
    while isinstance(deep, list):  # taken apart one by one: freeing it whole would go as deep
        deep = deep.pop()


def many(folder: Path, count: int = 40) -> list[str]:
    names = [f"k{number // 8 + 2}{number % 8 + 2}abc" for number in range(count)]
    for number, name in enumerate(names):
        write(folder, [line(id=f"e{at}", message=user(f"hello {number} {at}")) for at in range(1, 20)], name)
    return names


@pytest.mark.parametrize("part", range(0, 100, 7))
def test_a_damaged_list_is_made_again(tmp_path: Path, part: int) -> None:
    """Wherever it is damaged, the list and the search are whole, at once."""
    names = many(tmp_path)
    store = Store(tmp_path)
    assert len(store.conversations()) == len(names)
    store.catalogue.close()
    file = tmp_path / "conversations.sqlite"
    with sqlite3.connect(file) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    data = bytearray(file.read_bytes())
    at = len(data) * part // 100
    data[at : at + 400] = b"\xa5" * len(data[at : at + 400])
    file.write_bytes(data)
    store = Store(tmp_path)
    assert sorted(record.id for record in store.conversations()) == sorted(names)
    assert sorted(hit.session.id for hit in store.search("hello")) == sorted(names)
    assert store.catalogue.count(None) == len(names)
    store.catalogue.close()


def test_a_chatty_session_does_not_hide_the_others(tmp_path: Path) -> None:
    """However often one says a word, the others that say it are found too."""
    write(tmp_path, [line(id=f"e{at}", message=user("hello")) for at in range(1, 1500)])
    write(tmp_path, [line(id="e1", message=user("hello " + "and many other words " * 50))], "ghjkmn")
    found = Store(tmp_path).search("hello")
    assert {hit.session.id for hit in found} == {SESSION, "ghjkmn"}


QUERIES = ['"', 'a"b', "*", "NEAR(a b)", "a OR b", "title:hello", "-hello", "^hello", "___", "(", "\x00", "hello*",
           "日本", "x" * 100_000, "hello " * 3000, "{hello}", "hello AND", "' OR 1=1", "hello\u2028there"]  # fmt: skip


@pytest.mark.parametrize("query", QUERIES, ids=[ascii(query[:20]) for query in QUERIES])
def test_a_query_is_words_and_nothing_else(tmp_path: Path, query: str) -> None:
    """What means something to the search engine means nothing here."""
    write(tmp_path, [line(id="e1", message=user("hello there"))])
    found = Store(tmp_path).search(query)
    assert len(found) == (
        1
        if set(query.lower().replace("\u2028", " ").split())
        <= {"hello", "there", "-hello", "^hello", "hello*", "{hello}"}
        else 0
    )


LISTING = """
import sys
from pathlib import Path
from sightline.journal import Store
for _ in range(15):
    store = Store(Path(sys.argv[1]))
    store.conversations()
    store.search("hello")
    store.catalogue.close()
"""


def test_many_list_while_sessions_come_and_go(tmp_path: Path) -> None:
    """Nobody fails, and nothing is counted twice."""
    names = many(tmp_path)
    programs = [subprocess.Popen([sys.executable, "-c", LISTING, str(tmp_path)]) for _ in range(2)]
    over = threading.Event()

    def come_and_go() -> None:
        while not over.is_set():
            for name in names[:5]:
                shutil.rmtree(tmp_path / "sessions" / name, ignore_errors=True)
            many(tmp_path, 5)

    thread = threading.Thread(target=come_and_go)
    thread.start()
    try:
        assert [program.wait(100) for program in programs] == [0, 0]
    finally:
        over.set()
        thread.join()
    records = Store(tmp_path).conversations()
    assert sorted(record.id for record in records) == sorted(names)
    assert {record.messages for record in records} == {19}


def test_a_fork_of_a_fork_without_its_artifacts(tmp_path: Path) -> None:
    """What is gone is gone, and the rest is there; a fork while a line is being written has the lines before it."""
    folder = write(tmp_path, [line(id="e1", message=user("see artifact://abcdef/one.png"))])
    (folder / "artifacts").mkdir()
    (folder / "artifacts" / "one.png").write_bytes(b"image")
    (folder / "artifacts" / "gone").symlink_to("nowhere")
    with (folder / "journal.jsonl").open("ab") as journal:
        journal.write(b'{"kind":"entry","id":"e2","parent":"e1","mess')
    store = Store(tmp_path)
    first = store.fork(SESSION)
    assert (store.folder(first) / "artifacts" / "one.png").read_bytes() == b"image"
    shutil.rmtree(store.folder(first) / "artifacts")
    second = store.fork(first, "e1")
    tree = SessionTree.load(store.folder(second))
    assert (tree.leaf, tree.torn_at) == ("e1", None)
    (entry,) = tree.messages()
    assert isinstance(entry.message, UserMessage)
    assert entry.message.parts == [TextPart(f"see artifact://{second}/one.png")]


def test_a_clock_that_goes_backwards(tmp_path: Path) -> None:
    """The order is that of the journal where it matters: the leaf, the path, what comes below what."""
    times = [500.0, 400.0, 300.0, 1e12, -1.0]
    lines = [
        line(id=f"e{at}", parent=f"e{at - 1}" if at > 1 else "", time=when, message=user(f"m{at}"))
        for at, when in enumerate(times, 1)
    ]
    tree = SessionTree.load(write(tmp_path, lines))
    assert [node.id for node in tree.path()] == ["e1", "e2", "e3", "e4", "e5"]
    assert [each.node.id for each in outline(tree)] == ["e1", "e2", "e3", "e4", "e5"]


def test_fifty_thousand_entries(tmp_path: Path) -> None:
    """Reading, drawing and searching a tree takes time that grows with it, whatever its form."""
    for parent in (lambda at: f"e{at - 1}", lambda at: "e1", lambda at: f"e{at // 2}"):
        lines = [
            line(id=f"e{at}", parent=parent(at) if at > 1 else "", seq=at, time=-at, message=user(f"m{at}"))
            for at in range(1, 50_001)
        ]
        folder = write(tmp_path, lines)
        began = time.process_time()
        tree = SessionTree.load(folder)
        assert len(outline(tree)) == 50_000
        assert tree.path()[0].id == "e1"
        assert len(outline(tree, "all", "m49999")) == 1
        tree.ranges()
        assert time.process_time() - began < 10


INJECTION = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202eeltit\r\n\x00"


def test_nothing_kept_drives_the_terminal(tmp_path: Path) -> None:
    """Titles, folders, prompts, labels, names of tools and models: what is listed is text."""
    call = {"type": "call", "id": "c1", "name": f"read{INJECTION}", "args": {f"p{INJECTION}": INJECTION}}
    said = {
        "role": "assistant",
        "parts": [{"type": "text", "text": INJECTION}, call],
        "model": INJECTION,
        "error": INJECTION,
        "stop_reason": "error",
    }
    lines = [
        line(id="e1", message=user(f"hello {INJECTION}")),
        line(id="e2", parent="e1", message=said),
        line(id="e3", parent="e2", message={**user(INJECTION), "role": "tool", "call": "c1", "name": INJECTION}),
        line(id="e4", parent="e3", type="custom_message", custom=INJECTION, message=user(INJECTION)),
        line(id="e5", parent="e4", type="branch_summary", data={"summary": INJECTION, "from": INJECTION}),
        line(id="e6", parent="e5", type="label", data={"target": "e1", "label": INJECTION}),
        line(id="e7", parent="e5", type="label", data={"target": INJECTION, "label": INJECTION}),
        line(id="e8", parent="e5", type="model_change", data={"model": INJECTION}),
        line(id=f"e9{INJECTION}", parent="e5", message=user("x")),
        line(id="e10", parent="e8", type=INJECTION, message=user("x")),
        line(id="e11", parent="e8", message={**said, "role": INJECTION}),
    ]  # fmt: skip
    write(tmp_path, lines, title=INJECTION, cwd=INJECTION, parent_session=INJECTION)
    environ = {**os.environ, "SIGHTLINE_HOME": str(tmp_path), "NO_COLOR": "1"}
    commands = [
        ["sessions"], ["sessions", "hello"], ["sessions", "--json"], ["resume", SESSION], ["tree", SESSION],
        ["tree", SESSION, "--filter", "all"], ["tree", SESSION, "--json", "--filter", "all"],
        ["tree", SESSION, "--to", "e1"], ["tree", SESSION, "--label", f"e2={INJECTION.replace(chr(0), '')}"],
        ["tree", SESSION, "--to", "e77\x1b[2J"], ["fork", SESSION, "--at", "e9\x1b[2J"], ["resume", "\x1b[2J"],
    ]  # fmt: skip
    for command in commands:
        ran = subprocess.run(
            [sys.executable, "-m", "sightline", *command], env=environ, cwd=tmp_path, capture_output=True, timeout=60
        )
        shown = (ran.stdout + ran.stderr).decode()
        assert not set(shown) & set("\x1b\x9b\x07\x00\r\u202e"), command
        assert "Traceback" not in shown
        assert ran.returncode in (0, 1, 2)


def test_entries_are_plain_json(tmp_path: Path) -> None:
    """The line of an entry with odd characters begins like that of any other, so that it is found again."""
    entry = Entry(id="e1", message=UserMessage([TextPart("\ud83d")]))
    assert encode_entry(entry).startswith(b'{"kind":"entry"')
    assert msgspec.json.decode(encode_entry(entry))["id"] == "e1"
