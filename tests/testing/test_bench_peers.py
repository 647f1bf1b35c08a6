"""The comparison with other agents: what is said of those that cannot be measured, and of lines that come late."""

from pathlib import Path
from typing import Any

import pytest
from bench import live_lines, peers_agents, peers_lines, peers_resume, resuming
from bench.on_pty import Chunk
from bench.peer_screens import OURS, NotMeasured, PeerScreens
from bench.row import Row

from sightline.testing.place import Place
from sightline.testing.standin import load_script


@pytest.fixture
def peers(tmp_path: Path) -> PeerScreens:
    return PeerScreens(Place(tmp_path, tmp_path, "http://127.0.0.1:1"), [])


def lines(rows: list[Row]) -> list[str]:
    return [row.line() for row in rows]


def test_a_peer_that_fails_is_left_out_with_the_reason(peers: PeerScreens, capsys: pytest.CaptureFixture[str]) -> None:
    """One that did not do what was to be timed is not asked again; the others are."""
    peers.environments |= {"one": {}, "other": {}}
    asked = []

    def step(name: str) -> None:
        asked.append(name)
        if name == "one":
            raise NotMeasured("it went home")

    peers.each(step)
    peers.each(step)
    assert asked == ["one", "other", "other"]
    assert peers.absent == {"one": "not measured: it went home"}
    assert "it went home" in capsys.readouterr().err


def test_an_absent_peer_keeps_its_row() -> None:
    """The row says that there is no figure, and is no miss."""
    rows = [*peers_resume.rows({OURS: 0.2, "quick": 2.0}, {"absent": "not installed: no room"})]
    assert [row.met for row in rows] == [True, True, True]
    assert "0.10 ×" in lines(rows)[1]
    assert "sightline / absent" in lines(rows)[2]
    assert "nan" not in lines(rows)[2]


def test_a_slow_return_of_ours_is_a_miss() -> None:
    """However slow the peers are."""
    rows = [*peers_resume.rows({OURS: 0.41, "slow": 30.0}, {})]
    assert [row.met for row in rows] == [False, True]
    assert lines(rows)[0].endswith("MISSED")


def test_lines_that_come_with_the_end_are_not_live() -> None:
    """Shown, and old; only those that were there while the command ran are counted as live."""
    at_once = peers_lines.Measured([dict.fromkeys(range(live_lines.LINES), 0.001)])
    in_the_end = peers_lines.Measured([{47: 0.31, 48: 0.21, 49: 0.11}])
    assert (at_once.shown, at_once.live, at_once.age) == (50, 50, 0.001)
    assert (in_the_end.shown, in_the_end.live, in_the_end.age) == (3, 0, 0.21)


def test_one_line_of_ours_that_is_not_shown_in_one_round_is_a_miss() -> None:
    """Every line, in every round."""
    whole = dict.fromkeys(range(live_lines.LINES), 0.001)
    short = {number: age for number, age in whole.items() if number}
    measured = {OURS: peers_lines.Measured([whole, short]), "silent": peers_lines.Measured([{}])}
    rows = [*peers_lines.rows(measured, {})]
    assert [row.met for row in rows] == [False, True, True]
    assert "no line was shown" in lines(rows)[-1]


def test_the_long_session_ends_with_lines_of_its_own() -> None:
    """So many bytes as promised, and its end in no block that was cut off."""
    texts = resuming.long_texts()
    assert 550_000 < len("".join(texts).encode()) < 700_000
    assert texts[-1].endswith("".join(f"- {line}\n" for line in resuming.ENDING))
    assert texts[-1].count("```") % 2 == 0


def test_a_line_is_shown_when_the_update_it_came_in_is_whole() -> None:
    """Half of a synchronized update is on no screen; a line that was seen once is not counted again."""
    chunks = [
        Chunk(10.0, b"\x1b[?2026htick 00 9.500000\r\n"),
        Chunk(11.0, b"\x1b[?2026l"),
        Chunk(12.0, b"tick 00 9.500000\r\ntick 07 11.750000\r\n"),
    ]
    assert live_lines.ages(chunks) == {0: 1.5, 7: 0.25}


def agents_run(calls: int, wall: float = 2.0) -> peers_agents.Run:
    return peers_agents.Run(wall, 0.5, calls, 0, 0)


def test_a_call_of_our_agents_that_is_not_seen_in_one_round_is_a_miss() -> None:
    """However many were seen in the others, and whatever the peers show."""
    every = peers_agents.ALL
    measured = {OURS: [agents_run(every), agents_run(every - 1)], "other": [agents_run(0, wall=4.0)]}
    rows = [*peers_agents.rows(measured, {"pi": "it has no subagents"})]
    assert [row.what for row in rows if not row.met] == ["8 agents, calls of 24 not seen while they ran"]
    assert any("0.50 ×" in line for line in lines(rows))
    assert "sightline / pi" in lines(rows)[-1]
    slower = [*peers_agents.rows({**measured, OURS: [agents_run(every, wall=4.1)]}, {})]
    assert [row.what for row in slower if not row.met] == ["8 agents, wall: sightline / the fastest peer"]


def test_what_an_agent_prints_is_not_in_its_command() -> None:
    """A line counts as seen when it was printed; each of the eight is known by its prompt."""
    script = load_script(peers_agents.script())
    assert len({part.prompt for part in script.parts}) == 1 + peers_agents.AGENTS
    commands = [str(call["args"]) for turn in _agent_turns() for call in turn if "tool" in call]
    assert len(commands) == peers_agents.ALL
    assert not [command for command in commands if peers_agents._line.search(command)]
    assert all(peers_agents._call.search(command) for command in commands)


def _agent_turns() -> list[list[dict[str, Any]]]:
    return [turn for call in peers_agents.script()[0] for turn in call["agent"]]
