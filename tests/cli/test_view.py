"""`sightline view` and `sightline events` as a person runs them: real processes, real pipes."""

import json
import os
import pty
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from sightline.events import decode_event
from tests.providers.support import CAPTURES, load_capture

SIGHTLINE = str(Path(sys.executable).with_name("sightline"))


def sightline(*arguments, stdin=b"", env=None):
    return subprocess.run([SIGHTLINE, *arguments], input=stdin, capture_output=True, env={**os.environ, **(env or {})})


VERBOSE = """\
First the README.
● Read /project/README.md
Next the data file.
● Read /project/data.csv
Both files are there. Now the line count.
● Bash wc -l data.csv
The README describes the project and the data file has four lines.
"""


def test_a_recording_is_shown_in_words_or_with_markers():
    """FR-005: the same stream, text only and verbose."""
    file = CAPTURES / "claude" / "interleaved.jsonl"
    assert sightline("view", "-v", file).stdout.decode() == VERBOSE
    words = [line for line in VERBOSE.splitlines() if not line.startswith("●")]
    assert sightline("view", file).stdout.decode().splitlines() == words


@pytest.mark.parametrize("provider", ["claude", "codex", "gemini", "opencode"])
def test_the_provider_is_recognised(provider):
    """Told or not, the output is the same."""
    data = load_capture(provider, "interleaved")[0]
    told = sightline("view", "-v", "--provider", provider, stdin=data)
    assert told.stdout
    assert sightline("view", "-v", stdin=data).stdout == told.stdout


@pytest.mark.parametrize("name", ["interleaved.turn1.json", "interleaved.turn1.sse"])
def test_a_response_body_or_its_event_stream_is_recognised(name):
    """openai_compatible is read from either form."""
    file = CAPTURES / "openai_compatible" / name
    assert "● Read /project/README.md" in sightline("view", "-v", file).stdout.decode()


def test_a_pretty_printed_body_is_recognised():
    """One JSON value over many lines, as a person saves it."""
    body = json.loads((CAPTURES / "openai_compatible" / "interleaved.turn1.json").read_bytes())
    assert "● Read" in sightline("view", "-v", stdin=json.dumps(body, indent=2).encode()).stdout.decode()


def test_events_are_numbered_lines_of_our_vocabulary():
    """NDJSON that decodes to our events, `seq` counting from one."""
    lines = sightline("events", stdin=load_capture("codex", "interleaved")[0]).stdout.splitlines()
    events = [decode_event(line) for line in lines]
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert all(event.time > 0 and event.source == "codex" for event in events)


def test_a_word_is_seen_when_it_was_said():
    """Output is flushed line by line: the first words are there before the second line is written."""
    process = subprocess.Popen(
        [SIGHTLINE, "view", "--provider", "gemini"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    for words in (b"one ", b"two "):
        line = b'{"type":"message","role":"assistant","content":"%s","delta":true}\n' % words
        process.stdin.write(line)
        process.stdin.flush()
        assert process.stdout.read1(100) == words
    process.stdin.close()
    assert process.stdout.read() == b"\n"
    assert process.wait(10) == 0
    process.stdout.close()


def test_garbage_is_counted_and_the_stream_goes_on():
    """Edge case: unreadable lines never stop the rest, and never pass in silence."""
    garbage = b'not json\n{"half": \n\xff\xfe\n42\n' + b"[" * 5000 + b"\n"
    done = sightline("view", "--provider", "claude", stdin=garbage + load_capture("claude", "text_only")[0])
    assert done.stdout.startswith(b"Hello!")
    assert b"note: 5 lines could not be read" in done.stderr


def test_the_debug_log_says_why(tmp_path):
    """A line nobody could read is explained there."""
    log = tmp_path / "debug.log"
    sightline("view", "--provider", "claude", "--debug-log", log, stdin=b"not json\n")
    assert "unreadable line of 8 bytes" in log.read_text()


def test_the_debug_log_does_not_wait_for_a_reader(tmp_path):
    """A named pipe that no program reads is a mistake; where a reader does not keep up, rows are lost."""
    log = tmp_path / "pipe"
    os.mkfifo(log)
    done = sightline("view", "--provider", "claude", "--debug-log", log, stdin=b"not json\n")
    assert done.returncode == 2
    assert f"error: cannot write the log: no program reads {log}".encode() in done.stderr
    reader = os.open(log, os.O_RDONLY | os.O_NONBLOCK)
    done = sightline("view", "--provider", "claude", "--debug-log", log, stdin=b"not json\n" * 5000)
    assert b"note: 5000 lines could not be read" in done.stderr
    assert b"Logging error" not in done.stderr
    assert b"unreadable line of 8 bytes" in os.read(reader, 65536)
    os.close(reader)


def test_a_stream_of_nobodys_is_a_users_mistake():
    """One line, a hint, exit code 2, no traceback."""
    done = sightline("view", stdin=b"hello\nworld\n")
    assert done.returncode == 2
    assert done.stderr.startswith(b"error: cannot tell which provider")
    assert b"hint: name it with --provider" in done.stderr


def test_a_stream_of_another_provider_is_not_called_shown():
    """Nothing of it could be read: exit code 1, and it is said."""
    done = sightline("view", "--provider", "codex", stdin=load_capture("claude", "text_only")[0])
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"could not be read" in done.stderr


def test_options_may_stand_before_the_command():
    """What is said before `view` holds for it."""
    file = CAPTURES / "claude" / "interleaved.jsonl"
    assert sightline("-v", "view", file).stdout.decode() == VERBOSE
    assert sightline("--provider", "claude", "-v", "view", file).stdout.decode() == VERBOSE


def test_a_message_is_not_glued_to_the_words_in_one_pipe():
    """`2>&1 |`: a warning in the middle of a sentence begins on a line of its own."""
    words = b'{"type":"message","role":"assistant","content":"half a sentence","delta":true}\n'
    failed = b'{"type":"result","status":"error","error":{"type":"x","message":"broken"},"stats":{}}\n'
    done = subprocess.run(
        [SIGHTLINE, "view", "--provider", "gemini"],
        input=words + failed,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert b"half a sentence\nerror: broken\n" in done.stdout


def test_a_closed_stdout_is_no_crash():
    """`>&-`: nothing to write to, nothing to complain about."""
    file = str(CAPTURES / "claude" / "interleaved.jsonl")
    done = subprocess.run(["sh", "-c", f"{SIGHTLINE} view {file} >&-"], capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_missing_file_is_said_in_one_line():
    """What, and which file."""
    done = sightline("view", "no-such-file.jsonl")
    assert done.returncode == 1
    assert done.stderr == b"error: No such file or directory: no-such-file.jsonl\n"


def test_an_empty_stream_shows_nothing():
    """Nothing in, nothing out, no complaint."""
    done = sightline("view", stdin=b"")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_reader_that_leaves_is_no_error():
    """`| head -1` ends it quietly."""
    data = load_capture("claude", "huge_text")[0] * 50
    process = subprocess.Popen(
        [SIGHTLINE, "view", "--provider", "claude"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    writer = threading.Thread(target=_write, args=(process.stdin, data))
    writer.start()
    process.stdout.read(10)
    process.stdout.close()
    assert process.wait(20) == 141
    writer.join(20)
    assert process.stderr.read() == b""
    process.stderr.close()


def _write(pipe, data):
    try:
        with pipe:
            pipe.write(data)
    except BrokenPipeError:
        pass


def test_ctrl_c_ends_it_with_130():
    """Interrupted while waiting for input: no traceback."""
    process = subprocess.Popen(
        [SIGHTLINE, "view", "--provider", "gemini"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdin.write(b'{"type":"message","role":"assistant","content":"hi","delta":true}\n')
    process.stdin.flush()
    assert process.stdout.read1(10) == b"hi"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=90)
    assert (process.returncode, err) == (130, b"")


def on_a_terminal(*arguments, env=None) -> str:
    """What a person sees: the output of the command on a terminal of its own."""
    parent, child = pty.openpty()
    process = subprocess.Popen(
        [SIGHTLINE, *arguments],
        stdin=child,
        stdout=child,
        stderr=child,
        env={**os.environ, "TERM": "xterm", **(env or {})},
    )
    os.close(child)
    seen = b""
    while True:
        try:
            data = os.read(parent, 65536)
        except OSError:
            break
        if not data:
            break
        seen += data
    os.close(parent)
    process.wait(10)
    return seen.decode()


@pytest.mark.parametrize(
    ("arguments", "env", "coloured"),
    [
        ((), {}, True),
        ((), {"NO_COLOR": "1"}, False),
        ((), {"TERM": "dumb"}, False),
        (("--color", "never"), {}, False),
        (("--color", "always"), {"NO_COLOR": "1"}, True),
    ],
)
def test_colour_is_for_terminals_and_can_be_refused(arguments, env, coloured):
    """On a terminal yes, unless NO_COLOR, TERM=dumb or --color says otherwise."""
    env = {"NO_COLOR": "", **env}
    seen = on_a_terminal("view", "-v", *arguments, str(CAPTURES / "claude" / "interleaved.jsonl"), env=env)
    assert ("\x1b[" in seen) == coloured


def test_piped_output_has_no_colour_unless_asked():
    """A file or a pipe gets plain text; --color always is obeyed."""
    file = str(CAPTURES / "claude" / "interleaved.jsonl")
    assert b"\x1b" not in sightline("view", "-v", file).stdout
    assert b"\x1b" in sightline("view", "-v", "--color", "always", file).stdout


def test_hostile_words_cannot_touch_the_terminal():
    """Titles, colours, cursor moves and clipboard writes in a model's words die before the screen."""
    for name in ("unicode", "tricky_text"):
        for provider in ("claude", "codex", "gemini", "opencode"):
            assert b"\x1b" not in sightline("view", "-v", CAPTURES / provider / f"{name}.jsonl").stdout


def test_stdin_that_is_a_terminal_is_not_waited_for():
    """Nothing piped, no file: say what to do instead of hanging."""
    assert "error: nothing to read: stdin is a terminal" in on_a_terminal("view")
