"""Approvals: a person who answers at a glance is shown less than would be done.

The console runs on a real terminal, with the keys of a person in a hurry; what would be done leaves a file outside."""

import fcntl
import json
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Mapping

from sightline.testing.attack import Lab, attack
from sightline.text import clean_text

_SECONDS = 40.0
_ROWS, _COLUMNS = 24, 80
_ASKS = b"Allow this?"
_HIDING: dict[str, Callable[[str], str]] = {
    "lines": lambda command: "\n".join(f"echo step {n}" for n in range(60)) + f"\n{command}",
    "one line": lambda command: f"echo {'x' * 4000}; {command}",
    "blank lines": lambda command: "echo ok" + "\n" * 60 + command,
    "comment lines": lambda command: "echo ok\n" + "# nothing to see\n" * 60 + command,
    "a here document": lambda command: "cat > /dev/null <<END\n" + "text\n" * 60 + f"END\n{command}",
    "thousands of lines": lambda command: "true\n" * 5000 + command,
    "300 KB": lambda command: f": {'y ' * 150_000}; {command}",
}
_KEYS = {"y": b"y", "enter": b"\r", "1": b"1", "s": b"s", "a and enter": b"a\r", "up and enter": b"\x1b[A\r"}


_HURRY = [f"{how}, y" for how in _HIDING] + [f"lines, {key}" for key in _KEYS if key != "y"]
_LENGTHS = [f"{lines} lines, y" for lines in (100, 457, 4000, 5001)] + ["5001 lines, enter", "5001 lines, s"]


@attack(point=6, forms=_HURRY, sandboxes=["bubblewrap"])
def a_command_is_allowed_before_its_end_was_seen(lab: Lab, form: str) -> str:
    """What stands below the last row of the window runs with what stands in it."""
    how, key = form.split(", ")
    command = _HIDING[how](f"touch {lab.outside}/ran")
    return _answered(lab, {"tool": "bash", "args": {"command": command, "sandbox": False}}, _KEYS[key])


@attack(point=6, forms=_LENGTHS, sandboxes=["bubblewrap"])
def a_write_is_allowed_before_its_end_was_seen(lab: Lab, form: str) -> str:
    """What the last lines of a file say is written with what the first say."""
    lines, key = form.split(" lines, ")
    content = "".join(f"line {n}\n" for n in range(int(lines)))
    return _answered(lab, {"tool": "write", "args": {"path": f"{lab.outside}/file", "content": content}}, _KEYS[key])


@attack(point=6, forms=["a command", "a write"], sandboxes=["bubblewrap"])
def enter_allows_what_leaves_the_sandbox(lab: Lab, form: str) -> str:
    """Pressed by somebody who meant something else by it."""
    command = {"tool": "bash", "args": {"command": f"touch {lab.outside}/ran", "sandbox": False}}
    write = {"tool": "write", "args": {"path": f"{lab.outside}/file", "content": "x\n"}}
    return _answered(lab, command if form == "a command" else write, b"\r")


@attack(point=6, forms=["y", "s", "a", "Y", "01", "1 ", "yes", "once", "\uff11", ""], sandboxes=["bubblewrap"])
def a_line_that_is_no_answer_allows(lab: Lab, form: str) -> str:
    """On lines only a number as it was said answers, or a key after a dot: whoever listens may mean something else."""
    command = {"tool": "bash", "args": {"command": f"touch {lab.outside}/ran", "sandbox": False}}
    return _answered(lab, command, f"{form}\r".encode(), linear=True)


_HIDDEN = {
    "200 blanks": (" " * 200, "⟨200 spaces⟩"),
    "2000 blanks": (" " * 2000, "⟨2000 spaces⟩"),
    "tab": ("\t\t", "→"),
    "carriage return": ("\r", "␍"),
    "escape": ("\x1b[2K", "␛"),
    "override": ("\u202e", "⟨U+202E⟩"),
    "zero width": ("\u200b", "⟨U+200B⟩"),
    "no-break space": ("\u00a0", "⟨U+00A0⟩"),
    "filler": ("\u3164", "⟨U+3164⟩"),
    "blank note": ("\U0001d159", "⟨U+1D159⟩"),
    "blank of Khitan": ("\U00016fe4", "⟨U+16FE4⟩"),
    "joiner of numbers": ("\U0001107f", "⟨U+1107F⟩"),
    "many marks": ("\u0301" * 9, "⟨U+0301⟩"),
    "mark of another script": ("\u17d2", "⟨U+17D2⟩"),
    "right to left": (" \u05d0; \u05d1", "⟨U+05D0⟩; ⟨U+05D1⟩"),
}


@attack(point=6, forms=list(_HIDDEN), sandboxes=["bubblewrap"])
def a_command_hides_what_it_does(lab: Lab, form: str) -> str:
    """What a person reads must show the end of the command, and every character that is none."""
    hidden, sign = _HIDDEN[form]
    shown: list[bytes] = []
    command = f"echo ok{hidden}; touch {lab.outside}/ran"
    _answered(lab, {"tool": "bash", "args": {"command": command, "sandbox": False}}, b"\x1b", shown.append)
    screen = clean_text(b"".join(shown).decode(errors="replace"))
    if "Allow this?" not in screen:
        return f"nothing was asked: {screen[-300:]}"
    return "" if sign in screen else f"it is not shown: {form}"


def _answered(
    lab: Lab,
    call: Mapping[str, object],
    keys: bytes,
    heard: Callable[[bytes], object] = bytes,
    *,
    linear: bool = False,
) -> str:
    """The console, drawn or on lines, asks about a call and gets these keys; what was written outside."""
    ready, asked = (b"> ", b"Enter a number") if linear else (b"enter send", b"escape no")
    script = lab.write(lab.folder / "asked.json", json.dumps([[call], [{"text": "It is over."}]]))
    master, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", _ROWS, _COLUMNS, 0, 0))
    process = subprocess.Popen(
        [str(lab.sightline), "--model", f"scripted:{script}", "--approval", "auto"],
        cwd=lab.workspace,
        env={**lab.env, "TERM": "xterm-256color", **({"SIGHTLINE_LINEAR": "1"} if linear else {})},
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        start_new_session=True,
        **lab._as_user(),
    )
    os.close(terminal)
    seen = b""

    def until(mark: bytes, seconds: float) -> bool:
        nonlocal seen
        deadline = time.monotonic() + seconds
        while mark not in seen and time.monotonic() < deadline:
            if select.select([master], [], [], 0.05)[0]:
                try:
                    piece = os.read(master, 65536)
                except OSError:
                    return False
                heard(piece)
                seen += piece
        return mark in seen

    try:
        if not until(ready, _SECONDS):
            return f"the console did not come: {seen[-300:]!r}"
        os.write(master, b"go\r")
        if not until(_ASKS, _SECONDS):
            return f"nothing was asked: {seen[-300:]!r}"
        until(asked, 2)
        if linear:  # a line that was entered before the question is no answer anyway
            until(b"never said", 0.5)
        os.write(master, keys)
        until(b"It is over.", 3)
        return lab.written()
    finally:
        os.close(master)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        _end_hosts(lab)


def _end_hosts(lab: Lab) -> None:
    """A host outlives its console, and would wait for the answer."""
    listed = lab.start("ps", "--json").communicate(timeout=_SECONDS)[0]
    for host in json.loads(listed or b"[]"):
        try:
            os.kill(int(host["pid"]), signal.SIGKILL)
        except (ProcessLookupError, KeyError):
            continue
