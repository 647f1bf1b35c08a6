"""`sightline attach`, `logs` and `cancel`: the past, then the present, each byte once; leaving never ends anything."""

import os
import re
import signal
import subprocess
import time

import pytest

from tests.cli.support import SIGHTLINE, detached, is_alive, jobs, running_sessions, sightline, until

pytestmark = pytest.mark.usefixtures("hosts")


def numbers(text):
    """Of the output: a command that is silent for a second, on a busy machine, is said to be."""
    output = re.sub(r"no output for \d+ s", "", text)
    return [int(word) for word in output.split() if word.isdecimal()]


def test_the_past_then_the_present(in_terminal, tmp_path):
    """What was said before we came and what is said now, in one piece; the exit code is the job's."""
    go = tmp_path / "go"
    job = detached(f"seq 1 500; while [ ! -e {go} ]; do sleep 0.02; done; seq 501 1000; exit 9")
    terminal = in_terminal("attach", job)
    terminal.wait_for("\n499\n500")
    go.touch()
    assert terminal.wait() == 9
    assert numbers(terminal.text.partition("\n")[2].partition("✕")[0]) == list(range(1, 1001))


def test_a_finished_job_is_shown_at_once(in_terminal):
    """Twice the same, with its exit code, though no host is left."""
    job = detached("echo out; sleep 0.1; echo err >&2; exit 4")
    until(lambda: jobs()[job]["state"] == "failed", "the end")
    seen = []
    for _ in range(2):
        terminal = in_terminal("attach", job)
        assert terminal.wait() == 4
        seen.append(terminal.text)
    assert seen[0] == seen[1]
    assert f"● {job}  sh -c" in seen[0]
    assert "\nout\nerr\n✕ exit 4 · " in seen[0]


def test_ctrl_c_detaches(in_terminal):
    """It says so; the job goes on."""
    job = detached("echo here; exec sleep 60")
    terminal = in_terminal("attach", job)
    terminal.wait_for("here")
    terminal.press(b"\x03")
    assert terminal.wait() == 130
    assert "detached, still running. Attach with: sightline attach" in terminal.text
    assert jobs()[job]["state"] == "running"


def test_two_watchers_see_the_same(in_terminal, tmp_path):
    """And one that leaves changes nothing for the other."""
    go = tmp_path / "go"
    job = detached(f"echo one; while [ ! -e {go} ]; do sleep 0.02; done; echo two")
    first, second = in_terminal("attach", job), in_terminal("attach", job)
    first.wait_for("one")
    second.wait_for("one")
    first.press(b"\x03")
    assert first.wait() == 130
    go.touch()
    assert second.wait() == 0
    assert second.text.count("\none\n") == 1
    assert "two\n✓ exit 0" in second.text  # a note about silence may stand before it


def test_a_session_shows_all_its_jobs_under_headings(in_terminal, tmp_path):
    """In order, each named when the speaker changes; a code for the whole."""
    go = tmp_path / "go"
    first = detached(f"echo from one; while [ ! -e {go} ]; do sleep 0.02; done; echo one again")
    session = first.partition("-")[0]
    second = sightline("exec", "-d", "--session", session, "--", "sh", "-c", f"echo from two; cat {go} 2>&1; exit 3")
    second = second.stdout.decode().strip()
    until(lambda: jobs()[second]["state"] == "failed", "the second to end")
    terminal = in_terminal("attach", session)
    terminal.wait_for("\nfrom one", "\nfrom two")
    go.touch()
    assert terminal.wait() == 1
    rows = terminal.text.split("\n")
    speakers = re.findall("● ([^ ]+)", terminal.text)  # a note about silence may stand before one
    assert speakers == [first, second, first]
    said = [
        next(n for n, row in enumerate(rows) if row.endswith(words)) for words in ("from one", "from two", "one again")
    ]
    assert said == sorted(said)


def test_a_long_past_begins_near_its_end(in_terminal):
    """Past 8 MB only the last megabyte is drawn, and a row says how much is before and where it is."""
    job = detached("seq 1 1500000")
    until(lambda: jobs()[job]["state"] == "ok", "the end")
    terminal = in_terminal("attach", job)
    assert terminal.wait() == 0
    _, remark, *rows = terminal.text.split("\n")
    assert remark == f"… 9.4 MB skipped; sightline logs {job} has it …"
    shown = numbers("\n".join(rows[:-2]))
    assert shown == list(range(shown[0], 1500001))
    assert len("\n".join(map(str, shown))) > 900_000


def test_output_that_was_deleted_is_said(in_terminal, tmp_path):
    """Nothing is made up: the command, how much it was, how it ended."""
    job = detached("seq 1 100")
    until(lambda: jobs()[job]["state"] == "ok" and not running_sessions(), "the end of its host")
    for path in (tmp_path / "sightline-home").rglob(f"{job}.*"):
        path.unlink()
    terminal = in_terminal("attach", job)
    assert terminal.wait() == 0
    assert "of output was deleted" in terminal.text
    assert sightline("logs", job).returncode == 2


def test_a_host_that_dies_is_noticed_at_once(in_terminal):
    """It is said, with what is kept, and the command is gone."""
    job = detached("echo before, as $$; exec sleep 60")
    terminal = in_terminal("attach", job)
    pid = int(re.findall("before, as ([0-9]+)", terminal.wait_for("\nbefore, as "))[0])
    [host] = running_sessions()
    os.kill(host["pid"], signal.SIGKILL)
    terminal.wait_for("the session ended unexpectedly")
    assert terminal.wait() == 1
    assert terminal.text.count("\nbefore") == 1
    assert jobs()[job]["state"] == "lost"
    until(lambda: not is_alive(pid), "the command to be gone")


def test_the_beginning_of_an_id_is_enough(in_terminal):
    """And one that fits nothing, or several, is a mistake with a hint."""
    job = detached("echo x")
    until(lambda: jobs()[job]["state"] == "ok", "the end")
    terminal = in_terminal("attach", job[:3])
    assert terminal.wait() == 0
    assert sightline("logs", job[:4]).stdout == b"x\n"
    done = sightline("attach", "000")
    assert (done.returncode, done.stderr) == (
        2,
        b"error: no session or job 000\nhint: see `sightline jobs` and `sightline ps`\n",
    )


def test_attached_into_a_pipe_every_byte_passes():
    """Like logs --follow, with the job's exit code."""
    job = detached("printf 'a\\0b'; sleep 0.3; printf c >&2; exit 2")
    done = sightline("attach", job)
    assert (done.returncode, done.stdout, done.stderr) == (2, b"a\0b", b"c")


# logs


def test_logs_are_the_bytes_with_the_streams_apart():
    """What was printed and nothing else."""
    job = detached("printf '\\033[31mred\\r\\n'; sleep 0.1; printf 'err\\377' >&2")
    until(lambda: jobs()[job]["state"] == "ok", "the end")
    done = sightline("logs", job)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"\x1b[31mred\r\n", b"err\xff")


def test_logs_of_a_running_job_are_what_there_is():
    """Without --follow it does not wait."""
    job = detached("echo now; exec sleep 60")
    until(lambda: jobs()[job]["bytes"] == 4, "the output")
    assert sightline("logs", job).stdout == b"now\n"


def test_followed_logs_end_with_the_job(tmp_path):
    """Every byte of a flood, though views were sent only some of it."""
    go = tmp_path / "go"
    job = detached(f"seq 1 200000; while [ ! -e {go} ]; do sleep 0.02; done; seq 200001 400000; exit 3")
    process = subprocess.Popen([SIGHTLINE, "logs", "--follow", job], stdout=subprocess.PIPE)
    first = process.stdout.read(1000)
    go.touch()
    rest = process.stdout.read()
    assert process.wait(20) == 3
    process.stdout.close()
    assert first + rest == b"".join(b"%d\n" % number for number in range(1, 400001))


def test_logs_on_a_terminal_are_filtered(in_terminal):
    """The same interpreter as everywhere: no title gets through, a bar is its last state."""
    job = detached("printf '10%%\\r100%%\\n\\033]0;POISON\\007SAFE\\n'")
    until(lambda: jobs()[job]["state"] == "ok", "the end")
    terminal = in_terminal("logs", job)
    assert terminal.wait() == 0
    assert terminal.text == "100%\nSAFE\n"


# cancel


def test_cancel_ends_a_job_and_everything_it_started():
    """When it returns, the processes are gone and the job is said to be cancelled."""
    job = detached("setsid sleep 60 & echo $! $$; exec sleep 60")
    until(lambda: jobs()[job]["bytes"], "the output")
    pids = numbers(sightline("logs", job).stdout.decode())
    done = sightline("cancel", job)
    assert done.returncode == 0
    assert b"cancelled" in done.stdout
    assert not any(map(is_alive, pids))
    assert jobs()[job]["state"] == "cancelled"


def test_a_forced_cancel_does_not_ask():
    """A command that ignores TERM is gone at once."""
    job = detached("trap '' TERM; echo ready; while :; do sleep 0.1; done")
    until(lambda: jobs()[job]["bytes"], "the output")
    began = time.monotonic()
    assert sightline("cancel", "--force", job).returncode == 0
    assert time.monotonic() - began < 4


def test_cancelling_what_has_ended_is_a_note():
    """Nothing to do is not a failure."""
    job = detached("exit 3")
    until(lambda: jobs()[job]["state"] == "failed", "the end")
    done = sightline("cancel", job)
    assert (done.returncode, done.stderr) == (0, f"note: {job} had already ended\n".encode())


def test_logs_say_what_is_missing_of_them(tmp_path):
    """A full disk, a cap, a cut file: who reads the bytes is not left to believe they are all."""
    job = detached("printf 0123456789")
    until(lambda: jobs()[job]["state"] == "ok", "the end")
    (artifact,) = (tmp_path / "sightline-home").glob(f"sessions/*/artifacts/{job}.out")
    os.truncate(artifact, 4)
    done = sightline("logs", job)
    assert (done.returncode, done.stdout) == (0, b"0123")
    assert b"6 B more was printed" in done.stderr
