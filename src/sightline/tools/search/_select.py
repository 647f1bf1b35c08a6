"""Which of the lines found are shown when not all can be.

Matches are taken in turn, the first of every file, then the second of every file, until the budget is spent: one file
never takes the whole page.
"""

import msgspec

from sightline.tools.search._query import LINE_CHARACTERS, FileMatches, MatchLine

_HEADING = 16  # bytes of a heading besides its path: marks, tag, empty line before it
_MARGIN = 10  # bytes of a line besides its text: mark, number, separator, newline


class FileExcerpt(msgspec.Struct):
    """What is shown of one file."""

    name: str
    hits: FileMatches
    lines: list[MatchLine] = []
    matches: int = 0


def select(files: list[FileExcerpt], before: int, after: int, budget: int) -> bool:
    """Fills in what is shown; whether anything was left out."""
    turns = [_blocks(file.hits.lines, before, after) for file in files]
    chosen: list[set[int]] = [set() for _ in files]
    left_out = False
    for turn in range(max((len(blocks) for blocks in turns), default=0)):
        for file, blocks, numbers in zip(files, turns, chosen, strict=True):
            if turn >= len(blocks):
                continue
            fresh = [line for line in blocks[turn] if line.number not in numbers]
            cost = sum(min(len(line.raw), LINE_CHARACTERS * 4) + _MARGIN for line in fresh)
            cost += 0 if numbers else len(file.name.encode("utf-8", "replace")) + _HEADING
            if left_out or cost > budget:
                left_out = True
                continue
            budget -= cost
            numbers.update(line.number for line in fresh)
            file.matches += 1
    for file, numbers in zip(files, chosen, strict=True):
        file.lines = [line for line in file.hits.lines if line.number in numbers]
    return left_out


def _blocks(lines: list[MatchLine], before: int, after: int) -> list[list[MatchLine]]:
    """Per match, the lines from before it to after it."""
    by_number = {line.number: line for line in lines}
    return [
        [by_number[near] for near in range(line.number - before, line.number + after + 1) if near in by_number]
        for line in lines
        if line.matched
    ]
