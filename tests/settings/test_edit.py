"""Changing one setting in a file: comments, order and everything else stay as they were."""

import os
import stat
import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.exceptions import UserMistake
from sightline.settings._edit import set_in_file, unset_in_file, with_value, without
from sightline.settings._toml import entries, join_key, split_key, written

FILE = """\
# top
context_files = ["A"]  # which

[read] # about reading
  # how many
  default_limit = 10 # ten
  summarize = true

[models.servers.local] # mine
base_url = "http://x" # here
models = [
  "a", # first
  "b",
]
[search]
"""


@pytest.mark.parametrize(
    ("key", "value", "old", "new"),
    [
        ("read.default_limit", 20, "default_limit = 10 # ten", "default_limit = 20 # ten"),
        ("read.hash_lines", False, "  summarize = true\n", "  summarize = true\n  hash_lines = false\n"),
        ("search.context_after", 1, "[search]\n", "[search]\ncontext_after = 1\n"),
        ("instructions", 'a"b', '["A"]  # which\n', '["A"]  # which\ninstructions = "a\\"b"\n'),
        ("bash.timeout", 2.5, "[search]\n", "[search]\n\n[bash]\ntimeout = 2.5\n"),
        (
            "models.servers.local.models",
            ["c"],
            'models = [\n  "a", # first\n  "b",\n]\n',
            'models = ["c"]\n',
        ),
        ("models.servers.local.context", 5, '  "b",\n]\n', '  "b",\n]\ncontext = 5\n'),
        ("models.default", "m", "[search]\n", '[search]\n\n[models]\ndefault = "m"\n'),
    ],
)
def test_a_value_is_written_where_it_belongs(tmp_path, key, value, old, new):
    """Over the old one, at the end of its section, or in a new section."""
    file = tmp_path / "settings.toml"
    file.write_text(FILE)
    set_in_file(file, split_key(key), value)
    assert file.read_text() == FILE.replace(old, new)


@pytest.mark.parametrize(
    ("key", "gone"),
    [
        ("read.default_limit", "  default_limit = 10 # ten\n"),
        ("context_files", 'context_files = ["A"]  # which\n'),
        ("models.servers.local.models", 'models = [\n  "a", # first\n  "b",\n]\n'),
        (
            "models.servers.local",
            '[models.servers.local] # mine\nbase_url = "http://x" # here\nmodels = [\n  "a", # first\n  "b",\n]\n',
        ),
    ],
)
def test_a_setting_or_a_table_is_taken_out(tmp_path, key, gone):
    """Its own lines and no other."""
    file = tmp_path / "settings.toml"
    file.write_text(FILE)
    assert unset_in_file(file, split_key(key))
    assert file.read_text() == FILE.replace(gone, "")
    assert not unset_in_file(file, split_key(key))


def test_dotted_names_stay_dotted(tmp_path):
    """A section begun with dotted names cannot get a header as well."""
    file = tmp_path / "settings.toml"
    file.write_text("read.summarize = true\n[bash]\nshell = 'sh'\n")
    set_in_file(file, ("read", "default_limit"), 5)
    assert file.read_text() == "read.summarize = true\nread.default_limit = 5\n[bash]\nshell = 'sh'\n"


@pytest.mark.parametrize("text", ["read = { summarize = true }\n", "[read]\ndefault_limit.x = 3\n"])
def test_what_cannot_be_changed_by_lines_is_left_alone(tmp_path, text):
    """The person is told where to change it."""
    file = tmp_path / "settings.toml"
    file.write_text(text)
    with pytest.raises(UserMistake, match=r"settings\.toml:\d"):
        set_in_file(file, ("read", "default_limit"), 5)
    assert file.read_text() == text


def test_windows_lines_stay(tmp_path):
    """A new line ends like the others."""
    file = tmp_path / "settings.toml"
    file.write_bytes(b"[read]\r\nsummarize = true\r\n")
    set_in_file(file, ("read", "default_limit"), 5)
    assert file.read_bytes() == b"[read]\r\nsummarize = true\r\ndefault_limit = 5\r\n"


def test_a_new_file_is_for_its_owner_an_old_one_keeps_its_mode_and_a_link_stays(tmp_path):
    """Whole or not at all, in the place the link leads to."""
    file = tmp_path / "new" / "settings.toml"
    set_in_file(file, ("read", "default_limit"), 5)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    os.chmod(file, 0o640)
    link = tmp_path / "link.toml"
    link.symlink_to(file)
    set_in_file(link, ("read", "default_limit"), 6)
    assert link.is_symlink()
    assert (file.read_text(), stat.S_IMODE(file.stat().st_mode)) == ("[read]\ndefault_limit = 6\n", 0o640)
    assert sorted(os.listdir(file.parent)) == ["settings.toml"]


names = st.sampled_from(["a", "b", "c", "d e", "é", "f.g", '"'])
values = st.one_of(
    st.booleans(),
    st.integers(-(2**60), 2**60),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(codec="utf-8"), max_size=12),
    st.lists(st.text(st.characters(codec="utf-8"), max_size=6), max_size=3),
)


@given(values)
def test_what_is_written_is_read_back(value):
    """Every value a setting can have, on one line, with nothing in it that an editor would not show."""
    text = written(value)
    assert tomllib.loads(f"k = {text}")["k"] == value
    assert not set(text) & {"\n", "\x1b", "\u202e", "\x9b"}


@given(st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=5), min_size=1, max_size=4))
def test_a_key_is_read_back(key):
    """However odd its names."""
    assert split_key(join_key(tuple(key))) == tuple(key)


@settings(max_examples=150)
@given(st.lists(st.tuples(st.lists(names, min_size=1, max_size=3), values), max_size=6), st.data())
def test_edits_change_what_they_say_and_nothing_else(steps, data):
    """Setting and removing in any order gives the tree that a plain dictionary would; every comment is still there."""
    text, tree, comments = "# first\n", {}, ["# first"]
    for number, (key, value) in enumerate(steps):
        if not _put(tree, key, value):
            continue
        text = with_value(text, tuple(key), value)
        assert tomllib.loads(text) == tree
        comments.append(f"# {number}")
        text += f"# {number}\n"
    assert sorted(line for line in text.split("\n") if line.startswith("#")) == sorted(comments)
    found = [entry for entry in entries(text) if not entry.is_header]
    if found:
        gone = data.draw(st.sampled_from(found)).key
        table = tree
        for name in gone[:-1]:
            table = table[name]
        del table[gone[-1]]
        assert _full(tomllib.loads(without(text, gone))) == _full(tree)


def _put(tree, key, value):
    """False for a key that is a value's or a table's already."""
    for name in key[:-1]:
        tree = tree.setdefault(name, {})
        if not isinstance(tree, dict):
            return False
    if isinstance(tree.get(key[-1]), dict):
        return False
    tree[key[-1]] = value
    return True


def _full(tree):
    pruned = {name: _full(below) if isinstance(below, dict) else below for name, below in tree.items()}
    return {name: below for name, below in pruned.items() if below != {}}


@pytest.mark.parametrize(
    ("text", "key", "left"),
    [
        ("[read]\nsummarize = true\n", "read.summarize", ""),
        ("[a]\nx = 1\n\n[b]\ny = 1\n\n[c]\nz = 1\n", "b.y", "[a]\nx = 1\n\n[c]\nz = 1\n"),
        ("[a]\nx = 1\n\n[b.c]\ny = 1\n", "b.c.y", "[a]\nx = 1\n"),
        ("[b]\n\n[b.c]\ny = 1\n", "b.c.y", ""),
        ("[b] # mine\ny = 1\n", "b.y", "[b] # mine\n"),
        ("[b]\n# why\ny = 1\n", "b.y", "[b]\n# why\n"),
        ("[b]\nx = 1\ny = 1\n", "b.y", "[b]\nx = 1\n"),
    ],
)
def test_a_section_that_becomes_empty_goes_with_its_last_setting(text, key, left):
    """Unless a comment is in it."""
    assert without(text, split_key(key)) == left
