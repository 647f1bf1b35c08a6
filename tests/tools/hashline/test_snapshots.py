"""Tags: what they are made of, how long they are kept."""

import re
from pathlib import Path

import pytest

from sightline.tools.hashline import Snapshots, header, numbered, strip_display
from sightline.tools.hashline import _snapshots as snapshots

HERE = Path("/here")


def test_a_tag_is_four_hex_digits():
    """edit.md/Limits & Caps: exactly four, in capitals."""
    store = Snapshots()
    tags = [store.record(HERE, f"text {number}\n") for number in range(50)]
    assert all(re.fullmatch("[0-9A-F]{4}", tag) for tag in tags)
    assert len(set(tags)) == 50


@pytest.mark.parametrize("same", ["a\nb\n", "a\nb", "a\r\nb\r\n", "\ufeffa\nb\n"])
def test_the_same_lines_have_the_same_tag(same):
    """In every session, however the lines end."""
    assert Snapshots().record(HERE, same) == Snapshots().record(HERE, "a\nb\n")


@pytest.mark.parametrize(("one", "other"), [("", "\n"), ("a\n", "a\n\n"), ("a\n", "a \n"), ("a\rb\n", "a\nb\n")])
def test_other_lines_have_another_tag(one, other):
    """Empty lines count."""
    store = Snapshots()
    assert store.record(HERE, one) != store.record(HERE, other)


def test_states_whose_tags_would_be_the_same_get_others():
    """65,536 tags are few; of one file no two states share one."""
    store, seen = Snapshots(), {}
    for number in range(snapshots.MAX_VERSIONS):
        tag = store.record(HERE, f"{number}\n")
        assert seen.setdefault(tag, number) == number
    digest = snapshots.digest_of(["x"])
    other = snapshots.Version(tag=digest[:4], digest="0" * 64)
    assert snapshots._free_tag(digest, [other]) == digest[1:5]


def test_a_link_has_the_tags_of_its_target(tmp_path):
    """They are one file."""
    (tmp_path / "link").symlink_to("real")
    store = Snapshots()
    tag = store.record(tmp_path / "real", "a\n")
    assert store.find(tmp_path / "link", tag) is not None


def test_thirty_paths_are_kept():
    """read.md/Limits & Caps: the one not used longest is forgotten first."""
    store = Snapshots()
    tags = [store.record(Path(f"/{number}"), "a\n") for number in range(30)]
    store.record(Path("/0"), "b\n")
    store.record(Path("/new"), "a\n")
    assert store.find(Path("/0"), tags[0]) is not None
    assert store.find(Path("/1"), tags[1]) is None


def test_sixty_four_states_of_a_path_are_kept():
    """The oldest is forgotten first."""
    store = Snapshots()
    tags = [store.record(HERE, f"{number}\n") for number in range(65)]
    assert store.find(HERE, tags[0]) is None
    assert store.find(HERE, tags[1]) is not None


def test_a_text_too_long_is_known_by_its_tag_only(monkeypatch):
    """It can be told that it is unchanged; it cannot be moved."""
    monkeypatch.setattr(snapshots, "MAX_TEXT", 10)
    store = Snapshots()
    version = store.find(HERE, store.record(HERE, "long enough\n"))
    assert version is not None
    assert version.lines is None
    assert version.digest == snapshots.digest_of(["long enough"])


def test_texts_are_dropped_when_all_are_too_much(monkeypatch):
    """Tags stay."""
    monkeypatch.setattr(snapshots, "MAX_HELD", 25)
    store = Snapshots()
    first, second, third = (store.record(Path(f"/{number}"), "nine.chr\n") for number in range(3))
    assert [store.find(Path(f"/{n}"), tag).lines for n, tag in enumerate((first, second, third))] == [
        None,
        ["nine.chr"],
        ["nine.chr"],
    ]


def test_a_part_is_another_state_than_the_whole():
    """Even when its lines are all there are."""
    store = Snapshots()
    assert store.record_lines(HERE, {1: "a"}) != store.record(HERE, "a\n")
    assert store.record_lines(HERE, {1: "a"}) != store.record_lines(HERE, {2: "a"})


def test_how_files_are_shown():
    """read.md/Local text files: `¶PATH#TAG` and `LINE:TEXT`."""
    assert header("src/foo.ts", "0A1B") == "¶src/foo.ts#0A1B"
    assert numbered(41, "def alpha():") == "41:def alpha():"


STRIPPED = [
    pytest.param("¶a.py#0A3B\n1:x\n2:\n3:  y\n", "x\n\n  y\n", id="header and numbers"),
    pytest.param("\n¶a.py#0A3B\n1:x", "x", id="blank line before the header"),
    pytest.param("¶a.py#0A3B\n*1:x\n 5:y", "x\ny", id="as search shows them"),
    pytest.param("¶a.py#0A3B\n1:x\n¶b.py#0A3C\n1:y", "x\ny", id="two headers"),
    pytest.param("¶a.py#0A3B\nx\ny\n", "x\ny\n", id="header alone"),
    pytest.param("¶a.py#0A3B\r\n1:x\r\n", "x\r\n", id="CRLF"),
    pytest.param("1:x\n2:y\n3:z\n", "x\ny\nz\n", id="a whole file without its header"),
]
KEPT = ["", "\n\n", "8080:80", "8080:80\n", "1:x\n3:y", "1:x\ny", "a: 1\nb: 2", "¶ not a header\n1:x\nz"]
KEPT += ["¶a#12\n", "x\n¶a#0A3B\n", "12:30\n13:45\n", "3:x\n4:y\n5:z\n", "1:x\n2:y\n"]


@pytest.mark.parametrize(("shown", "content"), STRIPPED)
def test_what_was_copied_along_is_taken_away(shown, content):
    """write.md/Outputs: headers and line numbers pasted from read."""
    assert strip_display(shown) == (content, True)


@pytest.mark.parametrize("content", KEPT)
def test_what_may_be_meant_is_left(content):
    """A line with a number and a colon is not always a shown line."""
    assert strip_display(content) == (content, False)


def test_the_state_that_was_shown_last_is_known():
    """One that is shown again is the last one again, later than before; also after a resume."""
    store = Snapshots()
    assert store.last(HERE) is None
    tags = [store.record(HERE, text) for text in ("a\n", "b\n", "a\n")]
    last = store.last(HERE)
    assert (last.tag, last.lines) == (tags[0], ["a"])
    assert last.at > store.find(HERE, tags[1]).at
    resumed = Snapshots()
    store.record(HERE, "c\n")
    resumed.restore(store.unsaved())
    assert resumed.last(HERE).at == store.last(HERE).at


def test_reads_without_a_tag_are_noted_for_so_many_paths():
    """By the time at which they began."""
    store = Snapshots()
    for number in range(snapshots.MAX_READ + 1):
        store.note_read(Path(f"/{number}"), float(number))
    assert store.read_at(Path("/0")) is None
    assert store.read_at(Path("/1")) == 1.0
    assert store.last(Path("/1")) is None
