"""Words, as motions and deletions see them: runs of letters, digits and underscores; a marker is a word of its own."""

import unicodedata

from sightline.tty.components.editor._clusters import ceiling, floor, is_marker


def is_word(character: str) -> bool:
    """Whether it is part of a word: marks belong to the letter they sit on."""
    if character.isalnum() or character == "_":
        return True
    return character > "\u02ff" and unicodedata.category(character)[0] == "M"


def word_before(line: str, at: int) -> int:
    while at > 0 and not is_word(line[at - 1]) and not is_marker(line[at - 1]):
        at -= 1
    if at > 0 and is_marker(line[at - 1]):
        return at - 1
    while at > 0 and is_word(line[at - 1]):
        at -= 1
    return floor(line, at)


def word_after(line: str, at: int) -> int:
    end = len(line)
    while at < end and not is_word(line[at]) and not is_marker(line[at]):
        at += 1
    if at < end and is_marker(line[at]):
        return at + 1
    while at < end and is_word(line[at]):
        at += 1
    return ceiling(line, at)
