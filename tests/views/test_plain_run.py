"""`sightline -p` as a process: what is told, what is passed on, and that Ctrl+C works whatever the reader does."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.providers.support import load_capture

SIGHTLINE = str(Path(sys.executable).with_name("sightline"))


@pytest.fixture
def claude(tmp_path):
    """Puts a program called `claude` on the path; returns the environment in which it is found."""

    def put(body: str) -> dict[str, str]:
        binary = tmp_path / "bin" / "claude"
        binary.parent.mkdir(exist_ok=True)
        binary.write_text(f"#!{sys.executable}\nimport os, sys, time\nsys.stdin.read()\n{body}\n")
        binary.chmod(0o755)
        return {**os.environ, "PATH": f"{binary.parent}:{os.environ['PATH']}"}

    return put


def run(env, *arguments, **options):
    argv = [SIGHTLINE, "-p", "x", "--provider", "claude", *arguments]
    return subprocess.run(argv, env=env, stdin=subprocess.DEVNULL, capture_output=True, **options)


def test_lines_that_cannot_be_read_are_counted(claude, tmp_path):
    """Never silence: garbage between the words is told at the end."""
    (tmp_path / "words").write_bytes(load_capture("claude", "text_only")[0])
    env = claude(
        "print('garbage'); print('x' * 17_000_000, flush=True)\n"
        f"sys.stdout.buffer.write(open({str(tmp_path / 'words')!r}, 'rb').read())"
    )
    done = run(env)
    assert done.stdout.startswith(b"Hello!")
    assert b"note: 2 lines could not be read" in done.stderr


def test_a_failure_is_told_when_lines_pass_through(claude):
    """`--output-format json` shows every byte, and on stderr why it ended."""
    done = run(claude("print('own line', flush=True); sys.exit('no such model')"), "--output-format", "json")
    assert (done.returncode, done.stdout) == (1, b"own line\n")
    assert b"no such model" in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_though_nobody_reads(claude, number):
    """The reader has stopped and the pipe is full; a cancel does not wait for it."""
    line = (
        '{"type":"assistant","session_id":"s","message":{"content":[{"type":"text","text":"' + "word " * 1000 + '"}]}}'
    )
    env = claude(f"line = {line!r}\nwhile True: print(line, flush=True)")
    argv = [SIGHTLINE, "-p", "x", "--provider", "claude"]
    process = subprocess.Popen(argv, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    _wait_until_full(process.stdout.fileno())
    process.send_signal(number)
    assert process.wait(20) == 130
    process.stdout.close()
    process.stderr.close()


def test_a_reader_that_leaves_ends_the_run(claude, tmp_path):
    """`| head -1`: the agent is ended with it, and the exit code says why."""
    line = '{"type":"assistant","session_id":"s","message":{"content":[{"type":"text","text":"word"}]}}'
    pid_file = tmp_path / "pid"
    env = claude(
        f"open({str(pid_file)!r}, 'w').write(str(os.getpid()))\n"
        f"line = {line!r}\nwhile True: print(line, flush=True); time.sleep(0.01)"
    )
    process = subprocess.Popen(
        [SIGHTLINE, "-p", "x", "--provider", "claude"],
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.read(4)
    process.stdout.close()
    assert process.wait(20) == 141
    assert process.stderr.read() == b""
    process.stderr.close()
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid_file.read_text()), 0)


def _wait_until_full(fd: int) -> None:
    """Until the pipe holds as much as it can and the writer must be waiting."""
    import fcntl
    import struct
    import termios

    deadline = time.monotonic() + 20
    before = -1
    while time.monotonic() < deadline:
        (held,) = struct.unpack("i", fcntl.ioctl(fd, termios.FIONREAD, b"\0" * 4))
        if held == before and held > 30_000:
            return
        before = held
        time.sleep(0.1)
    raise AssertionError("the pipe never filled")


def test_the_last_conversation_is_gone_on_with(claude, tmp_path):
    """`--continue` passes the id the CLI gave last time in this folder."""
    init = '{"type":"system","subtype":"init","session_id":"abc-123","model":"m","cwd":"/"}'
    result = '{"type":"result","subtype":"success","is_error":false,"result":"","session_id":"abc-123"}'
    env = claude(f"print({init!r}); print({result!r}); open({str(tmp_path / 'argv')!r}, 'w').write(' '.join(sys.argv))")
    env["SIGHTLINE_HOME"] = str(tmp_path / "home")
    assert run(env).returncode == 0
    assert run(env, "--continue").returncode == 0
    assert "abc-123" in (tmp_path / "argv").read_text()


def test_an_idle_pipe_on_stdin_is_waited_for_only_a_while(claude):
    """A runner that never closes stdin does not hang the run."""
    from sightline.views.plain.commands.piped import read_piped

    reader, writer = os.pipe()
    assert read_piped("prompt", reader, patience=0.05) == "prompt"
    os.write(writer, b"piped")
    os.close(writer)
    assert read_piped("prompt", reader) == "prompt\n\npiped"
    os.close(reader)


def test_what_is_no_text_on_stdin_is_reported(capfd):
    """How many bytes; a mark stands in their place, and text stays as it is."""
    from sightline.views.plain.commands.piped import read_piped

    def piped(data):
        reader, writer = os.pipe()
        os.write(writer, data)
        os.close(writer)
        try:
            return read_piped("-", reader), capfd.readouterr().err
        finally:
            os.close(reader)

    assert piped("tab\there, \x1b[1mbold\x1b[0m ünd €\r\n".encode()) == ("tab\there, \x1b[1mbold\x1b[0m ünd €\r\n", "")
    text, said = piped(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR \xff\xfe")
    assert text == "\ufffdPNG\r\n\ufffd\n\ufffd\rIHDR \ufffd"
    assert said.startswith("warning: 7 of 19 bytes on stdin are not text; the agent gets \ufffd in their place\nhint: ")
