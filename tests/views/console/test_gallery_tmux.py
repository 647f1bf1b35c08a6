"""The gallery in a pane of a real tmux: walked through, split, zoomed, and left."""

import subprocess

import pytest

from tests.cli.support import SIGHTLINE, until

pytestmark = pytest.mark.needs("tmux")


class Tmux:
    """A server of its own with one window, the gallery started from a shell in it."""

    def __init__(self, folder):
        self._socket = str(folder / "tmux")
        self("new-session", "-d", "-x", "80", "-y", "24", "sh")
        self("set", "-g", "window-size", "manual")
        self.keys(f"PS1='$ '; clear; {SIGHTLINE} gallery\n")
        self.until_shows("q quit")

    def __call__(self, *words):
        command = ["tmux", "-u", "-S", self._socket, "-f", "/dev/null", *words]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=90).stdout

    def keys(self, text):
        for piece in text.split("\n"):
            if piece:
                self("send-keys", "-t", ":0.0", "-l", piece)
            if piece != text.split("\n")[-1]:
                self("send-keys", "-t", ":0.0", "Enter")

    def tape(self):
        """History and screen of the pane down to the last row that is not blank, wrapped rows joined."""
        return self("capture-pane", "-p", "-J", "-S", "-", "-t", ":0.0").rstrip().splitlines()

    def until_shows(self, *texts):
        until(lambda: all(any(text in row for row in self.tape()) for text in texts), repr(texts))

    def close(self):
        subprocess.run(["tmux", "-S", self._socket, "kill-server"], capture_output=True)


@pytest.fixture
def tmux(own_home, tmp_path):
    server = Tmux(tmp_path)
    yield server
    server.close()


def test_a_pane_that_is_split_zoomed_and_resized_keeps_every_row_once(tmux):
    """History stays as it was wrapped; no row is lost, none is there twice, and the prompt is there once."""
    tmux.keys("table\n")
    tmux.until_shows("without rows", "type a name")
    tmux("split-window", "-v", "-t", ":0.0", "cat")
    tmux("resize-pane", "-Z", "-t", ":0.0")
    tmux("resize-window", "-x", "70", "-y", "20")
    tmux.keys("tabs\n")
    tmux.until_shows("## tabs", "more than there is room for")
    until(lambda: sum("type a name" in row for row in tmux.tape()) == 1, "one prompt")
    rows = tmux.tape()
    for text in ("## table", "column 15: o", "without rows", "## tabs", "[Read-2]"):
        assert sum(text in row for row in rows) == 1, (text, rows)


def test_it_can_be_left_and_the_shell_goes_on_below(tmux):
    """The window is gone, what was shown stays, the next prompt of the shell is on a line of its own."""
    tmux.keys("tabs\n")
    tmux.until_shows("[Read-2]")
    tmux.keys("q")
    tmux.until_shows("[Read-2]")
    until(lambda: tmux.tape()[-1].startswith("$"), "the shell")
    rows = tmux.tape()
    assert not any("type a name" in row for row in rows)
    assert sum("[Read-2]" in row for row in rows) == 1
    tmux.keys("echo still here\n")
    tmux.until_shows("still here")


def test_control_z_and_fg(tmux):
    """To the shell and back, with everything in place."""
    tmux.keys("tabs\n")
    tmux.until_shows("[Read-2]", "type a name")
    tmux("send-keys", "-t", ":0.0", "C-z")
    until(lambda: tmux.tape()[-1].startswith("$"), "the shell")
    assert not any("type a name" in row for row in tmux.tape())
    tmux.keys("fg\n")
    tmux.until_shows("type a name")
    tmux.keys("box\n")
    tmux.until_shows("╭─ outside")
    rows = tmux.tape()
    for text in ("## tabs", "[Read-2]", "## box", "type a name"):
        assert sum(text in row for row in rows) == 1, (text, rows)
