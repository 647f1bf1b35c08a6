"""The fidelity gate: a fixed budget of it, and that it can be trusted to replay, to shorten and to tell."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from tests import needs

from sightline.testing.emulators import KINDS, Kind
from sightline.testing.fidelity import Case, World, _reduce, _stress, case_of, failure_of, make_case, reduce, stress
from sightline.testing.fidelity._operations import Operation
from sightline.tty.frame._ledger import FrameStep, Ledger

BUDGET = {"xterm": 1400, "ghostty": 1200, "tmux": 400}
SEED = 20_260


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_tape_is_what_was_committed_and_the_window(kind: Kind) -> None:
    """3,000 random operations on three emulators: every row of scrollback and screen, after every operation."""
    needs.require(["tmux" if kind == "tmux" else "node"])
    report = stress(BUDGET[kind], SEED, [kind])
    assert not report.failures, report.failures[0].failure
    assert report.operations >= BUDGET[kind]


def test_a_seed_gives_the_same_case_again() -> None:
    """A case is its seed and its emulator; it survives JSON unchanged."""
    case = case_of(7, "ghostty")
    assert case == case_of(7, "ghostty")
    assert msgspec.json.decode(msgspec.json.encode(case), type=Case) == case


def break_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    original = Ledger.step

    def step(ledger: Ledger, length: int, boundary: int, height: int, *, frozen: bool = False) -> FrameStep:
        found = original(ledger, length, boundary, height, frozen=frozen)
        return found._replace(end=max(found.start, found.end - 1))

    monkeypatch.setattr(Ledger, "step", step)


def test_a_failing_case_is_shortened_and_still_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lost row: of many operations those stay that lose it, and they fail by the same rule when run again."""
    break_chunks(monkeypatch)
    # Not every case has a row become history: the first that does is shortened.
    cases = [make_case(seed, "xterm", 80) for seed in range(3, 9)]
    case, failure = next((case, found) for case in cases if (found := failure_of(case)) is not None)
    shorter, found = reduce(case, failure)
    assert len(shorter.operations) <= 6
    assert found.rule == failure.rule
    again = failure_of(shorter)
    assert again is not None
    assert again.detail == found.detail


def run_module(*arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "sightline.testing.fidelity", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.needs("node")
@pytest.mark.slow
def test_the_command_replays_a_case_and_reports(tmp_path: Path) -> None:
    """Exit code 0 and a report of operations, seeds, emulators and worlds; a saved case is run alone."""
    saved = tmp_path / "case.json"
    saved.write_bytes(msgspec.json.encode(make_case(1, "xterm", 10)))
    replayed = run_module("--replay", str(saved))
    assert replayed.returncode == 0
    assert "10 operations, no divergence" in replayed.stdout
    done = run_module("--count", "60", "--seed", "1", "--emulator", "xterm")
    assert done.returncode == 0
    assert all(word in done.stdout for word in ("operations", "seeds       1 to 1", "xterm", "worlds", "divergences 0"))


@pytest.mark.needs("node")
def test_a_divergence_is_told_and_has_its_exit_code(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Which seed, which rule, what was shown and what was expected, and the case as JSON."""
    from sightline.testing.fidelity.__main__ import main

    break_chunks(monkeypatch)
    saved = tmp_path / "case.json"
    operations = [Operation("append", seed, size=4) for seed in range(5)]
    saved.write_bytes(msgspec.json.encode(Case(9, World("xterm", 40, 6, "transcript"), operations)))
    monkeypatch.setattr(sys, "argv", ["fidelity", "--replay", str(saved)])
    assert main() == 1
    told = capsys.readouterr().out
    assert told.startswith("seed 9 on xterm")
    assert "expected" in told
    assert msgspec.json.decode(told.splitlines()[-1], type=Case).seed == 9


@pytest.mark.needs("node")
@pytest.mark.slow
def test_ctrl_c_ends_a_long_run_with_a_report() -> None:
    """The person has enough: running cases end, nothing is left behind, and what was done is told."""
    command = [sys.executable, "-m", "sightline.testing.fidelity", "--count", "10000000", "--emulator", "xterm"]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, start_new_session=True)
    try:
        deadline = time.monotonic() + 300
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        while len(children.read_text().split()) < 2:
            assert time.monotonic() < deadline, "no case was begun"
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)
        told, _ = process.communicate(timeout=300)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    assert process.returncode == 130
    assert "interrupted" in told


def test_after_ctrl_c_no_case_is_run_to_its_end_or_shortened(monkeypatch: pytest.MonkeyPatch) -> None:
    """To shorten one takes hundreds of runs: where the machine was busy, it took minutes until the program ended."""
    enough: list[bool] = []
    applied: list[int] = []

    def played(case: Case, on_applied: Callable[[int], None]) -> None:
        for index in range(len(case.operations)):
            applied.append(index)
            on_applied(index)
            if index == 1:
                enough.append(True)  # the signal comes while an emulator gives up
                raise TimeoutError

    monkeypatch.setattr(_reduce, "run", played)
    monkeypatch.setattr(_stress, "_enough", enough)
    case = case_of(SEED, "xterm")
    failure = _stress.run_case(case).failure
    assert failure is not None
    assert (failure.rule, applied) == ("TimeoutError", [0, 1])
    assert _stress.run_case(case).failure is None
    assert applied == [0, 1, 0]
