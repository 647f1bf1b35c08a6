"""`sightline exec`: live on a terminal, byte for byte in a pipe, events, and in the background."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import termios
import time

import pytest

from tests.cli.support import SIGHTLINE, detached, is_alive, jobs, running_sessions, sightline, until

pytestmark = pytest.mark.usefixtures("hosts")


def shell(script):
    return ("exec", "--", "sh", "-c", script)


# On a terminal


def test_output_is_shown_while_the_command_runs(in_terminal, tmp_path):
    """The second line is not there before the command was allowed to print it."""
    go = tmp_path / "go"
    terminal = in_terminal(*shell(f"echo one; while [ ! -e {go} ]; do sleep 0.02; done; echo two"))
    assert "two" not in terminal.wait_for("one")
    go.touch()
    terminal.wait_for("one\ntwo")
    assert terminal.wait() == 0


def test_the_last_line_says_how_it_ended(in_terminal):
    """A sign, the exit code, the time it took and the job's id, in that order; the code is also ours."""
    terminal = in_terminal(*shell("echo out; echo err >&2; exit 3"))
    assert terminal.wait() == 3
    job = next(iter(jobs()))
    *output, last = terminal.text.strip().split("\n")
    assert sorted(output) == ["err", "out"]
    assert last.startswith("✕ exit 3 · ")
    assert last.endswith(f" · {job}")


def test_ctrl_c_cancels_and_keeps_what_was_said(in_terminal):
    """Partial output stays, it is said that it was cancelled, the exit code is 130, the process is gone."""
    terminal = in_terminal(*shell("echo partial pid $$ end; sleep 100; echo never"))
    pid = int(terminal.wait_for(" end").split()[2])
    terminal.press(b"\x03")
    assert terminal.wait() == 130
    assert terminal.text.startswith(f"partial pid {pid} end\n")
    assert "\n– cancelled; output stored · " in terminal.text
    assert "never" not in terminal.text  # a shell must not go on with the next command while it is being ended
    assert "^C" not in terminal.text
    assert not is_alive(pid)


def test_a_second_ctrl_c_makes_it_end(in_terminal):
    """A command that ignores being asked is gone without the grace."""
    terminal = in_terminal(*shell("trap '' TERM INT; echo ready $$ end; while :; do sleep 0.1; done"))
    pid = int(terminal.wait_for(" end").split()[1])
    began = time.monotonic()
    terminal.press(b"\x03")
    time.sleep(0.1)  # two presses, not one: nothing can be seen of the first that could be waited for
    terminal.press(b"\x03")
    assert terminal.wait() == 130
    assert time.monotonic() - began < 4
    assert not is_alive(pid)


def test_ctrl_c_acts_in_a_flood(in_terminal):
    """Also when the terminal takes nothing any more."""
    terminal = in_terminal("exec", "--", "yes")
    terminal.wait_for("y\ny")
    time.sleep(0.3)  # let the terminal fill up: nobody reads it now
    terminal.press(b"\x03")
    until(lambda: not any(job["state"] == "running" for job in jobs().values()), "the command to end")
    assert terminal.wait() == 130


def test_closing_the_terminal_leaves_the_command_alone(in_terminal, tmp_path):
    """The watcher goes, the job goes on, and attach shows it whole."""
    go = tmp_path / "go"
    terminal = in_terminal(*shell(f"echo before; while [ ! -e {go} ]; do sleep 0.02; done; echo after"))
    terminal.wait_for("before")
    terminal.close()
    until(lambda: terminal.process.poll() is not None, "the watcher to go")
    [job] = jobs()
    assert jobs()[job]["state"] == "running"
    go.touch()
    until(lambda: jobs()[job]["state"] == "ok", "the end of the job")
    again = in_terminal("attach", job)
    assert again.wait() == 0
    assert "\nbefore\nafter\n" in again.text


def test_a_killed_watcher_leaves_the_command_alone(in_terminal):
    """Nothing depends on who looks."""
    terminal = in_terminal(*shell("echo here; exec sleep 60"))
    terminal.wait_for("here")
    terminal.process.kill()
    terminal.process.wait()
    assert [job["state"] for job in jobs().values()] == ["running"]


def test_ctrl_z_stops_only_the_watcher(in_terminal, tmp_path):
    """The command works on; continued, the watcher catches up with nothing missing and nothing twice."""
    waits = f"while [ ! -e {tmp_path}/done ]; do sleep 0.02; done"
    continues = f"until [ -e {tmp_path}/go ]; do sleep 0.02; done"
    script = f"echo one; {continues}; echo two; touch {tmp_path}/done; sleep 0.5; echo three; exit 4"
    shell_with_jobs = ("bash", "-mc", f'"$@"; echo stopped; {waits}; fg', "bash")
    terminal = in_terminal(*shell(script), through=shell_with_jobs)
    terminal.wait_for("one")
    terminal.press(b"\x1a")
    terminal.wait_for("stopped\n")
    (tmp_path / "go").touch()
    assert terminal.wait() == 4
    before, _, after = terminal.text.partition("stopped\n")
    assert before.startswith("one\n")
    assert "\ntwo\nthree\n✕ exit 4" in after
    assert "one\n" not in after


def test_what_is_typed_is_not_drawn_into_the_output(in_terminal, tmp_path):
    """No echo while the block is drawn, and the terminal is as before afterwards."""
    import termios

    terminal = in_terminal(*shell(f"echo ready; until [ -e {tmp_path}/typed ]; do sleep 0.02; done; echo done"))
    before = termios.tcgetattr(terminal.master)[3]
    terminal.wait_for("ready")
    terminal.press(b"typed\n")
    (tmp_path / "typed").touch()
    assert terminal.wait() == 0
    assert "typed" not in terminal.text
    assert termios.tcgetattr(terminal.master)[3] == before


def test_a_resize_does_not_repeat_anything(in_terminal, tmp_path):
    """Rows on the screen stay; the output goes on below."""
    resized = f"until [ -e {tmp_path}/resized ]; do sleep 0.02; done"
    terminal = in_terminal(*shell(f"echo one; {resized}; echo two; sleep 0.4; echo three"), columns=80)
    terminal.wait_for("one")
    terminal.resize(40, 10)
    (tmp_path / "resized").touch()
    assert terminal.wait() == 0
    assert terminal.text.startswith("one\ntwo\nthree\n✓")


def test_a_progress_bar_is_one_row(in_terminal):
    """Carriage returns are obeyed, not collected."""
    terminal = in_terminal(*shell(r"for n in 1 2 3; do printf '\r%d%%' $n; sleep 0.15; done; echo"))
    assert terminal.wait() == 0
    assert terminal.output.count(b"\n") == 2  # the bar, and how it ended


def test_nothing_a_command_prints_gets_past_the_block(in_terminal):
    """No title, no clipboard, no mode, no answer-back: only characters, style and moves within the block."""
    attack = r"printf '\033]0;POISON\007\033]52;c;UE9JU09O\007\033[2J\033[H\033[?1049h\033[6n\033[5A\033c\nSAFE\n'"
    terminal = in_terminal(*shell(attack))
    assert terminal.wait() == 0
    assert b"SAFE" in terminal.output
    for piece in (b"POISON", b"\x1b]", b"\x1b[2J", b"\x1b[H", b"1049", b"\x1b[6n", b"\x1bc"):
        assert piece not in terminal.output
    assert b"\x1b[5A" not in terminal.output


def test_silence_is_said_and_gives_way(in_terminal, tmp_path):
    """Somebody who waits sees that it is alive; the next output takes the place of the words."""
    go = tmp_path / "go"
    terminal = in_terminal(*shell(f"while [ ! -e {go} ]; do sleep 0.02; done; echo here"))
    terminal.wait_for("running for 1 s, no output yet")
    go.touch()
    terminal.wait_for("here")
    assert b"\r\x1b[Khere" in terminal.output


def test_labels_name_the_stream(in_terminal):
    """-v: never colour alone."""
    terminal = in_terminal("exec", "-v", "--color", "never", "--", "sh", "-c", "echo a; sleep 0.1; echo b >&2")
    assert terminal.wait() == 0
    assert "out │ a\nerr │ b\n" in terminal.text


def test_a_terminal_of_its_own(in_terminal):
    """--pty: the command sees a terminal, as wide as ours."""
    terminal = in_terminal("exec", "--pty", "--", "sh", "-c", "test -t 1 && stty size", columns=93, rows=31)
    assert terminal.wait() == 0
    assert "31 93" in terminal.text


# Into a pipe


def test_every_byte_passes():
    """Five megabytes of anything, stdout and stderr apart, nothing added."""
    script = "import os,sys;d=os.urandom(5_000_000);sys.stdout.buffer.write(d);sys.stderr.buffer.write(d[::-1])"
    done = sightline("exec", "--", "python3", "-c", script)
    assert done.returncode == 0
    assert len(done.stdout) == len(done.stderr) == 5_000_000
    assert hashlib.sha256(done.stdout).digest() == hashlib.sha256(done.stderr[::-1]).digest()


def test_a_piped_job_is_kept_and_can_be_attached_to():
    """The program is its host while it runs."""
    process = subprocess.Popen([SIGHTLINE, *shell("echo one; sleep 60")], stdout=subprocess.PIPE)
    assert process.stdout.read(4) == b"one\n"
    [job] = jobs()
    assert sightline("logs", job).stdout == b"one\n"
    assert sightline("cancel", job).returncode == 0
    assert process.wait(20) == 130
    process.stdout.close()
    assert jobs()[job]["state"] == "cancelled"


def test_a_reader_that_leaves_ends_the_command():
    """`| head -1`: exit code 141, the process gone."""
    process = subprocess.Popen([SIGHTLINE, *shell("echo $$; exec yes")], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    pid = int(process.stdout.readline())
    process.stdout.close()
    assert process.wait(20) == 141
    assert process.stderr.read() == b""
    process.stderr.close()
    assert not is_alive(pid)


def test_a_signal_cancels_though_nobody_reads():
    """The pipe is full and the reader has stopped."""
    process = subprocess.Popen([SIGHTLINE, *shell("echo $$; exec yes")], stdout=subprocess.PIPE)
    pid = int(process.stdout.readline())
    time.sleep(0.3)  # let the pipe fill
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 130
    process.stdout.close()
    assert not is_alive(pid)


def test_a_hangup_leaves_a_piped_command_alone(tmp_path):
    """The terminal it was started from is closed, and its reader with it: the command goes on and is kept."""
    go = tmp_path / "go"
    script = f"echo one; while [ ! -e {go} ]; do sleep 0.02; done; echo two; sleep 0.1; echo three"
    process = subprocess.Popen([SIGHTLINE, *shell(script)], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"one\n"
    process.send_signal(signal.SIGHUP)
    time.sleep(0.1)  # the signal is to come before the reader leaves, as it does when a terminal closes
    process.stdout.close()
    go.touch()
    process.wait(20)
    [job] = jobs()
    assert jobs()[job]["state"] == "ok"
    assert sightline("logs", job).stdout == b"one\ntwo\nthree\n"


def test_piped_input_is_not_the_commands():
    """A command that reads gets the end of input at once."""
    assert sightline("exec", "--", "cat", input=b"secret", stdin=None).stdout == b""


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("true",), 0),
        (("sh", "-c", "exit 7"), 7),
        (("sh", "-c", "kill -9 $$"), 137),
        (("sh", "-c", "kill -TERM $$"), 143),
    ],
)
def test_the_exit_code_is_the_commands(words, code):
    """128 + n when signal n ended it."""
    assert sightline("exec", "--", *words).returncode == code


def test_a_timeout_ends_it_with_124():
    """What was said is passed on first, and that it timed out is said on stderr."""
    done = sightline("exec", "--timeout", "0.5", "--", "sh", "-c", "echo partial; sleep 60")
    assert (done.returncode, done.stdout, done.stderr) == (124, b"partial\n", b"error: timed out after 0.5 s\n")


@pytest.mark.parametrize("how", [(), ("-d",)])
def test_a_missing_program_is_a_mistake_with_a_hint(how):
    """Exit code 127, as in a shell, and nothing on stdout."""
    done = sightline("exec", *how, "--", "no-such-program-here")
    assert (done.returncode, done.stdout) == (127, b"")
    assert done.stderr.startswith(b"error: cannot start no-such-program-here: no such program")
    assert b"\nhint: " in done.stderr


def test_a_missing_program_on_a_terminal(in_terminal):
    """The same words."""
    terminal = in_terminal("exec", "no-such-program-here")
    assert terminal.wait() == 127
    assert terminal.text.startswith("error: cannot start no-such-program-here: no such program")


def test_a_command_without_dashes():
    """Its own options stay its own."""
    assert sightline("exec", "--color", "never", "printf", "%s", "-d", "--pty").stdout == b"-d--pty"
    assert sightline("exec", "--", "echo", "--", "-p", "x").stdout == b"-- -p x\n"


def test_no_command_is_a_mistake():
    """With a hint that can be copied."""
    done = sightline("exec")
    assert done.returncode == 2
    assert b"error: no command given\nhint: write it after `--`" in done.stderr


# Events


def test_events_are_those_of_the_journal():
    """Numbered by the session, from the call to its result."""
    done = sightline("exec", "--output-format", "events", "--", "sh", "-c", "echo hi; exit 5")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert [event["kind"] for event in events] == ["tool_use", "tool_output", "tool_result"]
    assert [event["seq"] for event in events] == [1, 2, 3]
    assert events[1]["content"] == "hi\n"
    assert events[2]["exit_code"] == done.returncode == 5


def test_a_slow_reader_of_events_misses_none():
    """However far behind: what it could not be sent is read from the journal."""
    script = "i=0; while [ $i -lt 4000 ]; do echo line $i; i=$((i+1)); done; sleep 0.2; echo end"
    process = subprocess.Popen(
        [SIGHTLINE, "exec", "--output-format", "events", "--", "sh", "-c", script], stdout=subprocess.PIPE
    )
    until(lambda: any(job["state"] != "running" for job in jobs().values()), "the command to end")
    events = [json.loads(line) for line in process.stdout]
    assert process.wait(20) == 0
    process.stdout.close()
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    reached = 0
    for event in events[1:-1]:
        assert event["offset"] == reached + event["dropped"]
        reached = event["offset"] + event["size"]
    assert reached == events[-1]["details"]["bytes"]


# In the background


def test_detached_returns_with_the_id_alone():
    """On stdout the id and nothing else, before the command is done."""
    job = detached("sleep 60")
    assert jobs()[job]["state"] == "running"


def test_a_job_of_a_running_session(tmp_path):
    """It gets the next number, our environment and our folder, and its bytes pass through."""
    first = detached("sleep 60")
    session = first.partition("-")[0]
    words = ("exec", "--session", session, "--", "sh", "-c", "echo $GREETING; pwd; echo err >&2; exit 6")
    done = sightline(*words, cwd=tmp_path, env={**os.environ, "GREETING": "hello"})
    assert (done.returncode, done.stdout, done.stderr) == (6, f"hello\n{tmp_path}\n".encode(), b"err\n")
    assert jobs()[f"{session}-2"]["state"] == "failed"


def test_a_job_of_a_running_session_on_a_terminal(in_terminal):
    """Only its own output is shown."""
    session = detached("while :; do echo other; sleep 0.05; done").partition("-")[0]
    terminal = in_terminal("exec", "--session", session, "--", "sh", "-c", "echo mine; sleep 0.3; exit 2")
    assert terminal.wait() == 2
    assert terminal.text.startswith("mine\n")
    assert "other" not in terminal.text


def test_a_session_that_does_not_run_takes_no_jobs():
    """It says so and what to do."""
    sightline("exec", "--", "true")
    session = next(iter(jobs())).partition("-")[0]
    done = sightline("exec", "--session", session, "--", "true")
    assert done.returncode == 2
    assert f"error: session {session} is not running".encode() in done.stderr


def test_binary_output_passes_and_is_not_drawn(in_terminal):
    """A pipe gets every byte; a terminal is told."""
    terminal = in_terminal("exec", "--", "head", "-c", "100000", "/dev/zero")
    assert terminal.wait() == 0
    assert "98 KB skipped" in terminal.text
    assert b"\0" not in terminal.output


def test_a_folder_whose_name_is_not_text(tmp_path):
    """The command runs there, piped or detached, and the list of sessions has it too."""
    folder = os.fsencode(tmp_path) + b"/caf\xe9"
    os.mkdir(folder)
    assert sightline("exec", "--", "pwd", cwd=folder).stdout == folder + b"\n"
    assert sightline("exec", "-d", "--", "sleep", "60", cwd=folder).returncode == 0
    assert running_sessions()[0]["cwd"].endswith("/caf\ufffd")


def test_a_command_that_is_over_before_its_watcher_comes():
    """The program was suspended, or the machine busy: its end is told, not that its host did not come up."""
    script = (
        "import asyncio, os, time\n"
        "from sightline.exec import CommandSpec\n"
        "from sightline.host import launch\n"
        "from sightline.journal import Store\n"
        "from sightline.paths import data_folder\n"
        "from sightline.views.plain.commands import exec as views\n"
        "from sightline.views.plain._palette import PLAIN\n"
        "store, spec = Store(data_folder()), CommandSpec(argv=('sh', '-c', 'exit 5'))\n"
        "session = launch(store, spec, cwd='/')\n"
        "while store.is_running(session): time.sleep(0.01)\n"
        "print(session)\n"
        "start = views._Start(store, spec, session, '')\n"
        "raise SystemExit(asyncio.run(views._shown(start, PLAIN, False, [])))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 5, done.stderr
    assert "exit 5" in done.stderr


def echoes(terminal):
    return bool(termios.tcgetattr(terminal.master)[3] & termios.ECHO)


def test_a_quit_leaves_the_terminal_as_it_was(in_terminal):
    """Ctrl+\\ ends the watcher at once, but what is typed afterwards is seen."""
    terminal = in_terminal("exec", "--", "sh", "-c", "echo ready; exec sleep 60")
    terminal.wait_for("ready")
    assert not echoes(terminal)
    terminal.press(b"\x1c")
    assert terminal.wait() == -signal.SIGQUIT
    assert echoes(terminal)
