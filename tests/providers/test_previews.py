"""Previews of arguments: the telling field, one line, forty code points, whole characters."""

import json
import shlex
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wcwidth import iter_graphemes

from sightline.providers import preview
from sightline.providers._preview import preview_command, shorten, shown_args, unwrap_shell
from sightline.text import clean_value

LONG = "echo about to fail; echo boom >&2; exit 3"


@pytest.mark.parametrize(
    ("args", "shown"),
    [
        ({"file_path": "/a/b.py", "content": "x"}, "/a/b.py"),
        ({"filePath": "/a/b.py"}, "/a/b.py"),
        ({"path": "/a", "command": "view"}, "/a"),
        ({"command": "ls -l", "description": "List files"}, "ls -l"),
        ({"command": "make", "dir_path": "/srv/app"}, "make"),
        ({"cmd": "ls"}, "ls"),
        ({"command": ["git", "status"]}, "git status"),
        ({"command": ["/bin/bash", "-lc", "git status"]}, "git status"),
        ({"query": "demo"}, "demo"),
        ({"url": "https://example.org"}, "https://example.org"),
        ({"description": "Count rows", "prompt": "Count the rows of data.csv"}, "Count rows"),
        ({"prompt": "\n\n  First line \nsecond"}, "First line"),
        ('{"command": "ls"}', "ls"),
        ({"command": "", "description": "Nothing to run"}, "Nothing to run"),
        ({"command": "   ", "description": "Nothing to run"}, "Nothing to run"),
        ({"command": "echo a\rrm -rf /"}, "echo a"),
        ({"command": ["/bin/bash", "-l", "-c", "git status"]}, "git status"),
        ({"command": ["bash", "-c", "git status", "extra"]}, "bash -c git status extra"),
        ({"file_path": 7, "query": "q"}, "q"),
    ],
)
def test_the_first_telling_field_is_shown(args, shown):
    """US3 scenario 3: a short readable preview from a known field, also when the arguments are a JSON text."""
    assert preview(args) == shown
    assert shown_args(args, "", json.dumps(args).encode())[1] == shown


@pytest.mark.parametrize(
    "args", [{}, {"a": 19, "b": 23}, {"command": 3}, None, 7, [], "", "{", "[1]", "\ud800", {"todos": []}]
)
def test_nothing_recognisable_gives_an_empty_string(args):
    """Edge case: no recognisable field, name only."""
    assert preview(args) == ""


@pytest.mark.parametrize("name", ["Grep", "Glob"])
def test_a_search_is_known_by_what_it_looks_for(name):
    """Not by where."""
    assert preview({"path": "/src", "pattern": "TODO"}, name) == "TODO"


@pytest.mark.parametrize(
    ("command", "script"),
    [
        ("/bin/bash -lc 'cat README.md'", "cat README.md"),
        ("/bin/bash -lc ls", "ls"),
        ("bash -c 'a'", "a"),
        ('/usr/bin/zsh -lc "echo \\"hi\\" \'$x\'"', "echo \"hi\" '$x'"),
        ("/bin/sh -e -c 'make'", "make"),
        ("bash --login -c ls", "ls"),
        ("bash --noprofile --norc -c ls", "ls"),
        ("bash -euo pipefail -c 'make all'", "make all"),
        ("bash -o errexit -o pipefail -c 'make all'", "make all"),
        ("bash -ceuo pipefail 'make all'", "make all"),
        ("bash +x -c ls", "ls"),
        ("/usr/bin/env bash -c 'make all'", "make all"),
        ("env bash -lc ls", "ls"),
        ("bash\t-l \t-c\t'make all'", "make all"),
        ("bash -e pipefail -c ls", "bash -e pipefail -c ls"),
        ("env -c ls", "env -c ls"),
        ("/bin/bash -lc 'bash -c ls'", "ls"),
        ("/bin/bash -lc 'git push'", "git push"),
        ("/bin/bash -lc 'it'\"'\"'s'", "it's"),
        ("/bin/bash -lc 'a' b", "/bin/bash -lc 'a' b"),
        ("/bin/bash -lc 'open", "/bin/bash -lc 'open"),
        ("/bin/bash -lc '", "/bin/bash -lc '"),
        ("/bin/bash -lc ", "/bin/bash -lc"),
        ("bash script.sh", "bash script.sh"),
        ("echo '/bin/bash -lc ls'", "echo '/bin/bash -lc ls'"),
    ],
)
def test_a_shell_wrapper_shows_its_script(command, script):
    """Whatever shell, however quoted; anything else stays as it is."""
    assert preview_command(command) == script


@given(
    st.text(st.characters(blacklist_categories=["Cc", "Cs"]), min_size=1, max_size=60),
    st.sampled_from(["-lc", "-c", "-l -c"]),
)
def test_any_quoted_script_is_found_again(script, flags):
    """What `shlex` quotes is unquoted."""
    if unwrap_shell(script) == script:
        assert unwrap_shell(f"/bin/bash {flags} {shlex.quote(script)}") == script


@pytest.mark.parametrize(
    "command",
    [
        "bash " + "-a " * 50_000 + "x",
        "bash -" + "c" * 100_000 + "!",
        "bash -" + "o" * 100_000 + "!",
        "bash " + "-o o " * 50_000 + "x",
        "bash --" + "-" * 100_000,
        "bash" + " " * 100_000 + "x",
        "/usr/bin/env" + " " * 100_000 + "bash ",
        "/" + "a/" * 50_000 + "x sh ",
        "/" + "a" * 100_000 + " sh ",
        " " * 100_000 + "sh ",
        "bash -c " + "'a'" * 50_000,
        'bash -c "' + "\\a" * 100_000,
        "bash -c " + "\\a" * 100_000 + " x",
    ],
    ids=lambda command: command[:12],
)
def test_a_hostile_command_takes_no_longer_than_it_is_long(command):
    """What takes this long by its first power would take forever by any other."""
    begun = time.process_time()
    assert len(preview_command(command)) <= 40
    assert time.process_time() - begun < 1


def test_a_long_script_in_a_wrapper_shows_its_first_line():
    """Mixed quotes, many lines: only the beginning is read."""
    script = "set -e\n# it's long\n" + "echo \"x\" 'y'\n" * 2000
    assert preview_command(f"/bin/bash -lc {shlex.quote(script)}") == "set -e"


def test_the_cut_is_at_forty_code_points_with_the_ellipsis():
    """FR-009."""
    assert preview({"command": LONG}) == LONG[:39] + "…"
    assert preview({"command": "x" * 40}) == "x" * 40


@given(st.text(max_size=120))
def test_any_text_becomes_one_short_line(text):
    """No control, no line break, no blanks around."""
    shown = shorten(text)
    assert len(shown) <= 40
    assert shown == shown.strip()
    assert not set(shown) & set("\n\r\t\x1b\x0b\x0c\x85\u2028\u2029")


@given(st.text("ab é日👩👨\u200d🏽\ufe0f\u0301🇯🇵🇩", min_size=41, max_size=120))
def test_the_cut_is_between_two_characters_as_people_see_them(text):
    """Never inside a grapheme cluster."""
    line = text.strip()
    shown = shorten(line)
    ends = [0]
    for cluster in iter_graphemes(line):
        ends.append(ends[-1] + len(cluster))
    assert shown == line if len(line) <= 40 else len(shown) - 1 == max(end for end in ends if end < 40)


def test_a_family_is_not_torn_apart():
    """A cluster of seven code points across the cut is left out whole."""
    family = "👨\u200d👩\u200d👧\u200d👦"
    assert shorten("x" * 36 + family + "yyyy") == "x" * 36 + "…"
    assert shorten(family * 10) == family * 5 + "…"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b[2K\x1b[0m\nreal", "real"),
        ("a\tb", "a b"),
        ("a\u202eb", "ab"),
        ("one\u2028two", "one"),
    ],
)
def test_what_drives_a_terminal_is_not_in_a_preview(text, shown):
    """A line of nothing but sequences says nothing; the next one is shown."""
    assert shorten(text) == shown


fields = st.sampled_from(
    ["file_path", "command", "path", "pattern", "query", "description", "other", "o\nther", "\x1b[1m"]
)
leaves = st.one_of(
    st.none(), st.booleans(), st.integers(), st.text("ab \n\t\r\x1b[31m\u202eé", max_size=50),
    st.sampled_from(["bash -c ls", "/bin/bash -lc 'make'", ["git", "status"], {"a": "\x07"}]),
)  # fmt: skip


@given(st.one_of(st.dictionaries(fields, leaves, max_size=4), leaves), st.sampled_from(["Bash", "Grep", ""]))
def test_arguments_and_their_preview_in_one_go_are_the_same_as_one_by_one(args, name):
    """The short cut for plain arguments changes nothing but the cost."""
    assert shown_args(args, name, json.dumps(args).encode()) == (clean_value(args), preview(args, name))
