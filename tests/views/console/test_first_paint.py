"""The first paint of the gallery: what it imports, what it shows, what it understands, and what it hands over."""

import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.tty.components._input import Input
from sightline.tty.components._key_hints import KeyHints
from sightline.tty.input._bindings import Bindings
from sightline.tty.theme._theme import PLAIN
from sightline.views.console.paint._gallery_paint import HINTS, PLACEHOLDER, PROMPT, GalleryPaint

# The real command, stopped at the moment when it would begin to import the rest: it says what is there.
PROBE = """
import os, sys
sys.argv = ["sightline", "gallery"]
from sightline.cli import main
from sightline.views.console.paint import _first_paint
def stop(screen, load):
    os.write(2, " ".join(sys.modules).encode())
    screen.leaves = 0
_first_paint._listen_while_loading = stop
main()
"""


def modules(code: str) -> set[str]:
    """What a child on a terminal has imported when it says so on stderr."""
    master, slave = os.openpty()
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-c", code],
            stdin=slave,
            stdout=slave,
            stderr=subprocess.PIPE,
            env={**os.environ, "TERM": "xterm"},
            check=True,
            timeout=60,
        )
    finally:
        os.close(slave)
        os.close(master)
    return set(done.stderr.decode().split())


def test_what_is_imported_before_the_first_paint():
    """The whole set: os and sys are Python's own, termios is what the terminal takes, the rest is ours and small."""
    bare = modules("import os, sys; os.write(2, ' '.join(sys.modules).encode())")
    assert modules(PROBE) - bare == {
        "gc",
        "termios",
        "sightline",
        "sightline._working_folder",
        "sightline.cli",
        "sightline.views",
        "sightline.views.console",
        "sightline.views.console.paint",
        "sightline.views.console.paint._first_paint",
        "sightline.views.console.paint._gallery_paint",
    }


@pytest.mark.parametrize("columns", [200, 80, 60, 40, 20, 8])
def test_it_shows_what_the_gallery_will_show(columns):
    """Prompt and hints read as those of the components that take over, so that nothing moves then."""
    painted = GalleryPaint((columns, 24)).rows
    prompt = Input(prompt=PROMPT, placeholder=PLACEHOLDER, bindings=Bindings())
    assert [painted[2]] == list(prompt.render(columns))
    assert [painted[3]] == list(KeyHints(HINTS, theme=PLAIN).render(columns))


def test_text_goes_into_the_prompt_and_backspace_takes_it_back():
    """Letters as they are typed, one cell each."""
    screen = GalleryPaint((80, 24))
    screen.take("tabé".encode())
    screen.take(b"\x7f\x7fx")
    assert (screen.text, screen.rest, screen.cursor) == ("tax", b"", (2, 5))
    assert screen.prompt_row() == "\r› tax\x1b[K\x1b[6G"


@pytest.mark.parametrize("key", [b"\t", b"\r", b"\x1b[A", "日".encode(), b"\xe6", b"\x04", b"\x1b[200~pasted\x1b[201~"])
def test_what_is_not_plain_text_is_kept_for_the_decoder(key):
    """With all that follows it, in order."""
    screen = GalleryPaint((80, 24))
    screen.take(b"ab" + key)
    screen.take(b"c")
    assert (screen.text, screen.rest) == ("ab", key + b"c")


@pytest.mark.parametrize("key", [b"q", b"?", b"\x7f"])
def test_keys_that_mean_something_on_an_empty_prompt_are_kept(key):
    """They are commands there, not text."""
    screen = GalleryPaint((80, 24))
    screen.take(key)
    assert (screen.text, screen.rest) == ("", key)


def test_control_c_wants_out_wherever_it_comes():
    """Also behind what nobody understood yet."""
    screen = GalleryPaint((80, 24))
    screen.take(b"ab\x1b[")
    assert screen.leaves is None
    screen.take(b"\x03")
    assert screen.leaves == 130


@given(st.binary(max_size=60), st.integers(1, 200))
def test_no_byte_is_lost_whatever_is_typed(data, columns):
    """What is in the prompt and what is kept is what came, but for what backspace took back."""
    screen = GalleryPaint((columns, 24))
    for at in range(0, len(data), 3):
        screen.take(data[at : at + 3])
    if b"\x7f" not in data:
        assert screen.text.encode() + screen.rest == data
    assert len(PROMPT) + len(screen.text) <= max(columns, len(PROMPT))
    assert all(len(row) <= columns for row in screen.rows)
