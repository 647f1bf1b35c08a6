"""Going back to a long conversation, `sightline --resume ID`: soon there, all of it above, each row once.

Two forms of 600 KB: three long answers, and sixty turns with calls. Every line of an answer has a number; in the end
each must stand on the tape exactly once. Between the first full screen and the last row written nothing may move but
the rows of the status.
"""

import re
from collections import Counter
from collections.abc import Iterator
from statistics import median
from typing import Any, NamedTuple

from bench.console_place import ConsolePlace
from bench.on_pty import OnPty, shown, tape_of, whole_updates
from bench.row import Row
from sightline.testing.documents import mixed_markdown

ROUNDS = 5
READABLE_GOAL, WHOLE_GOAL = 400.0, 1500.0  # milliseconds
ANSWERS, ANSWER_SIZE = 3, 200_000
TURNS, TURN_SIZE, TURN_LINES = 60, 6_000, 80
LAST_LINE = "the last line of all"
ENDING = (*(f"closing line {number}" for number in range(1, 6)), LAST_LINE)
_FIRST_ROW = 2  # the rows above it may be used to write what goes above them
_STATUS_ROWS = 2
_CHUNK = 4000
_marker = re.compile(r"[m-z]\d{5}")


class Resumed(NamedTuple):
    """Seconds to the last screenful and to all of it; markers that are not there once; screens that moved."""

    readable: float
    whole: float
    not_once: int
    moved: int


def rows(console: ConsolePlace) -> Iterator[Row]:
    for name, texts, session in (("3 answers", *long_answers(console)), ("60 turns", *many_turns(console))):
        expected = [marker for text in texts for marker in _marker.findall(text)]
        rounds = [_resumed(console, session, expected) for _ in range(ROUNDS)]
        readable, whole = (median(one[index] for one in rounds) * 1000 for index in (0, 1))
        yield Row(f"600 KB, {name}: last screenful readable, median", READABLE_GOAL, readable, "ms")
        yield Row(f"600 KB, {name}: all in the scrollback, median", WHOLE_GOAL, whole, "ms")
        yield Row(f"600 KB, {name}: lines not there exactly once", 0, max(one.not_once for one in rounds), "")
        yield Row(f"600 KB, {name}: screens that moved meanwhile", 0, max(one.moved for one in rounds), "")


def long_answers(console: ConsolePlace) -> tuple[list[str], str]:
    """What was answered, and the session."""
    texts = long_texts()
    model = console.script("answers", answering(texts))
    session = ""
    for number in range(ANSWERS):
        session = console.prompt_once(f"prompt {number}", model, session)
    return texts, session


def long_texts() -> list[str]:
    """Three answers, the last of which ends with a list of `ENDING`."""
    texts = [_lettered(mixed_markdown(size=ANSWER_SIZE, seed=number), number) for number in range(ANSWERS)]
    last_section = texts[-1].rindex("\n#")  # it may end in the middle of a block
    texts[-1] = texts[-1][:last_section] + "\n" + "".join(f"- {line}\n" for line in ENDING)
    return texts


def answering(texts: list[str]) -> list[list[dict[str, Any]]]:
    """The model's answers, one text to a prompt."""
    return [[{"text": text, "chunk": _CHUNK}] for text in texts]


def many_turns(console: ConsolePlace) -> tuple[list[str], str]:
    texts = []
    turns: list[Any] = []
    parts = iter(_lettered(mixed_markdown(TURNS * TURN_LINES, TURNS * TURN_SIZE * 8 // 7, seed=9), 0).split("\n\n"))
    for number in range(TURNS):
        text = ""
        while len(text) < TURN_SIZE and (part := next(parts, "")):
            text += part + "\n\n"
        texts.append(text)
        command = f"for n in $(seq 60); do echo output {number} row $n {'-' * 40}; done"
        turns.append([{"text": text, "chunk": _CHUNK}, {"tool": "bash", "args": {"command": command}}])
    turns.append([{"text": LAST_LINE}])
    return texts, console.prompt_once("do it all", console.script("turns", turns))


def _lettered(text: str, number: int) -> str:
    """With unique markers."""
    return re.sub(r"m(\d{5})", rf"{chr(ord('m') + number)}\1", text)


def _resumed(console: ConsolePlace, session: str, expected: list[str]) -> Resumed:
    with console.opened("--resume", session) as program:
        program.until(_all_written(program, set(expected)), quiet=1.0)
        chunks = list(program.chunks)
    readable = whole = None
    still: list[str] = []
    moved = above = 0
    for at, tape in shown(whole_updates(chunks)):
        screen = tape.screen[_FIRST_ROW:-_STATUS_ROWS]
        if readable is None and any(LAST_LINE in row for row in tape.screen):
            readable = at
        if tape.scrollback > above:
            above, whole = tape.scrollback, at
        if still and screen != still:
            moved += 1
        if readable is not None and at > readable:
            still = screen
    assert readable, "the last line was never shown"
    assert whole, "nothing stands above the screen"
    counted = Counter(_marker.findall("\n".join(tape_of(chunks))))
    not_once = sum(counted[marker] != 1 for marker in expected)
    return Resumed(readable - program.began, whole - program.began, not_once, moved)


def _all_written(program: OnPty, left: set[str]) -> Any:
    """Whether every marker was written by now."""
    place, tail = 0, b""

    def looked() -> bool:
        nonlocal place, tail
        for chunk in program.chunks[place:]:
            data = tail + chunk.data
            left.difference_update(_marker.findall(data.decode(errors="replace")))
            tail = data[-12:]
        place = len(program.chunks)
        return not left

    return looked
