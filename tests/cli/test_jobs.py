"""`sightline jobs`, `ps` and `stop`: what runs, what ran, and ending it."""

import json
import os
import signal

import pytest

from sightline.journal import JobRecord, Store
from sightline.views._names import folder_name
from tests.cli.support import detached, is_alive, jobs, running_sessions, sightline, until

pytestmark = pytest.mark.usefixtures("hosts")


def test_the_table_has_every_state_with_its_sign():
    """Newest first; never colour alone."""
    states = {
        detached("exit 0"): "✓ ok",
        detached("exit 3"): "✕ exit 3",
        detached("sleep 60", "--timeout", "0.1"): "✕ timed out",
        detached("exec sleep 60"): "– cancelled",
        detached("exec sleep 61"): "◌ running",
    }
    *_, cancelled, _ = states
    sightline("cancel", cancelled)
    until(lambda: sum(job["state"] == "running" for job in jobs().values()) == 1, "all but one to end")
    head, *rows = sightline("jobs").stdout.decode().splitlines()
    assert head.split() == ["ID", "STATE", "TIME", "SIZE", "COMMAND"]
    assert [row.split()[0] for row in rows] == list(reversed(states))
    for row in rows:
        assert states[row.split()[0]] in row


def test_a_script_is_listed_without_its_shell():
    """As the console lists it; for a program the command is what was run."""
    job = detached("echo 'it is' $HOME; exit 0")
    row = next(row for row in sightline("jobs").stdout.decode().splitlines() if row.startswith(job))
    assert row.endswith("  echo 'it is' $HOME; exit 0")
    assert jobs()[job]["command"].startswith("sh -c ")


def test_only_the_newest_are_listed(tmp_path):
    """Thirty, and how many more there are; --all and --json have all of them."""
    store = Store(tmp_path / "sightline-home")
    records = [
        JobRecord(id=f"aaaaaa-{n}", session="aaaaaa", command=f"echo {n}", state="ok", started=float(n), duration=1.0)
        for n in range(1, 10_001)
    ]
    store.index.add(*records)
    rows = sightline("jobs").stdout.decode().splitlines()
    assert [row.split()[0] for row in rows[1:3]] == ["aaaaaa-10000", "aaaaaa-9999"]
    assert (len(rows), rows[-1]) == (32, "… 9970 more: sightline jobs --all")
    assert len(sightline("jobs", "--all").stdout.splitlines()) == 10_001
    assert len(json.loads(sightline("jobs", "--json").stdout)) == 10_000
    assert sightline("jobs", "--limit", "2").stdout.decode().splitlines()[3:] == ["… 9998 more: sightline jobs --all"]
    assert len(json.loads(sightline("jobs", "--json", "--limit", "2").stdout)) == 2


def test_one_sessions_jobs():
    """--session, also by the beginning of its id."""
    detached("true")
    second = detached("true")
    rows = sightline("jobs", "--session", second[:5]).stdout.decode().splitlines()
    assert [row.split()[0] for row in rows[1:]] == [second]


def test_json_says_what_a_program_needs():
    """The same fields as over HTTP."""
    job = detached("echo hello; exit 3")
    until(lambda: jobs()[job]["state"] == "failed", "the end")
    facts = jobs()[job]
    assert facts | {"started": 0, "elapsed": 0} == {
        "id": job,
        "session": job.partition("-")[0],
        "command": "sh -c 'echo hello; exit 3'",
        "cwd": os.getcwd(),
        "state": "failed",
        "exit_code": 3,
        "started": 0,
        "elapsed": 0,
        "bytes": 6,
        "pty": False,
    }


def test_no_jobs_yet():
    """A new user is told what to do."""
    assert sightline("jobs").stdout == b"no jobs yet: start one with sightline exec -- COMMAND\n"


def test_pruning_deletes_what_is_asked_and_nothing_that_runs():
    """And says what it did."""
    old, running = detached("echo old"), detached("exec sleep 60")
    until(lambda: len(running_sessions()) == 1, "the end of its host")
    assert b"nothing to delete: no job is older than 30d" in sightline("jobs", "prune").stdout
    assert sightline("jobs", "prune", "--older-than", "0s").stdout.startswith(b"deleted 1 session, ")
    assert list(jobs()) == [running]
    assert sightline("logs", old).returncode == 2


@pytest.mark.parametrize(("option", "value"), [("--older-than", "soon"), ("--larger-than", "much")])
def test_a_limit_nobody_understands_is_a_mistake(option, value):
    """With an example of one that is understood."""
    done = sightline("jobs", "prune", option, value)
    assert done.returncode == 2
    assert b"such as" in done.stderr


def test_ps_lists_what_runs_and_stop_ends_it():
    """One by its id, the rest with --all; their processes are gone when it returns."""
    first, second = detached("exec sleep 60"), detached("exec sleep 60")
    hosts = {host["id"]: host for host in running_sessions()}
    assert {f"{session}-1" for session in hosts} == {first, second}
    session = first.partition("-")[0]
    table = sightline("ps").stdout.decode().splitlines()
    assert len(table) == 3
    assert table[0].split() == ["ID", "STATE", "TIME", "PID", "JOBS", "FOLDER", "TITLE"]
    assert "◌ jobs running" in table[1]
    assert table[1].endswith(f"{folder_name(os.getcwd())}  exec sleep 60")
    assert sightline("stop", session[:4]).stdout == f"stopped {session}\n".encode()
    until(lambda: not is_alive(hosts[session]["pid"]), "the host to go")
    assert jobs()[first]["state"] == "cancelled"
    assert sightline("stop", "--all").returncode == 0
    assert sightline("ps").stdout == b"no session is running\n"
    assert jobs()[second]["state"] == "cancelled"


def test_a_session_that_does_not_answer_is_named_and_the_others_are_stopped():
    """`stop --all` passes over none: a host that is suspended has an error of its own."""
    stuck, other = detached("exec sleep 60"), detached("exec sleep 60")
    pids = {host["id"]: host["pid"] for host in running_sessions()}
    session, _, _ = stuck.partition("-")
    os.kill(pids[session], signal.SIGSTOP)
    done = sightline("stop", "--all")
    os.kill(pids[session], signal.SIGCONT)
    assert done.returncode == 1
    assert done.stdout == f"stopped {other.partition('-')[0]}\n".encode()
    assert f"session {session} is running but does not answer" in done.stderr.decode()
    assert sightline("stop", "--all").stdout == f"stopped {session}\n".encode()


def test_stop_wants_to_know_which():
    """Nothing is ended by mistake."""
    assert sightline("stop").returncode == 2
    assert sightline("stop", "--all", "abcdef").returncode == 2
