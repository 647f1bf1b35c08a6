"""How many cells a grapheme cluster takes: the one table behind measuring, cutting, wrapping and pinning.

The rules, found by asking terminals that cluster (Ghostty, xterm.js with its grapheme addon) for the cursor's column:

- A cluster is as wide as its first character; what joins it takes no cell of its own, a spacing vowel sign included.
- VS16 makes a character wide, and VS15 narrow, where Unicode lists the pair as a variation of an emoji.
- A conjunct of Indic consonants is one cluster for Unicode, but terminals give every consonant its cell. A pair stays
  together; a longer one, which nothing bounds, is taken apart.
- A skin tone joins only a character that can have one; after anything else it is a patch of two cells.
- A control, a format character and a mark without a base take nothing; a spacing mark without a base takes one cell.
- No cluster is longer than `LONGEST`. Unicode lets any number of marks join; what follows so many is a cluster of its
  own. So many characters in a row that take nothing are one cluster and take a cell: a flood of them is wrapped, and
  costs what letters cost. A terminal that gives them no cell shows a shorter row than we count, never a longer one.

`wcwidth` gives the width of single characters and the clusters; where it differs from these rules, they win.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import pairwise

import wcwidth

_TEXT_STYLE, _EMOJI_STYLE, _JOINER = "\ufe0e", "\ufe0f", "\u200d"
_CACHED_AT_MOST = 16384
LONGEST = 32  # characters a cluster has at most
_AHEAD = 2 * LONGEST
_ONE_OR_TWO = frozenset((1, 2))

# Terminals give these a width that their Unicode properties do not: dashes of two and three em, and format characters
# that are shown as a sign.
_EXCEPTIONS = {
    **dict.fromkeys("\u2e3a\u2e3b", 2),
    **dict.fromkeys(map(chr, (0xFFF9, 0xFFFA, 0xFFFB, 0x1171E, *range(0x13430, 0x13439))), 1),
}
_is_skin_tone = re.compile("[\U0001f3fb-\U0001f3ff]").match
_takes_skin_tone = re.compile(
    "[\u261d\u26f9\u270a-\u270d\U0001f385\U0001f3c2-\U0001f3c4\U0001f3c7\U0001f3ca-\U0001f3cc\U0001f442\U0001f443"
    "\U0001f446-\U0001f450\U0001f466-\U0001f478\U0001f47c\U0001f481-\U0001f483\U0001f485-\U0001f487\U0001f48f"
    "\U0001f491\U0001f4aa\U0001f574\U0001f575\U0001f57a\U0001f590\U0001f595\U0001f596\U0001f645-\U0001f647"
    "\U0001f64b-\U0001f64f\U0001f6a3\U0001f6b4-\U0001f6b6\U0001f6c0\U0001f6cc\U0001f90c\U0001f90f"
    "\U0001f918-\U0001f91f\U0001f926\U0001f930-\U0001f939\U0001f93c-\U0001f93e\U0001f977\U0001f9b5\U0001f9b6"
    "\U0001f9b8\U0001f9b9\U0001f9bb\U0001f9cd-\U0001f9cf\U0001f9d1-\U0001f9dd\U0001fac3-\U0001fac5"
    "\U0001faf0-\U0001faf8]"
).match
_SPACING_VOWELS = "\u0e33\u0eb3"  # Thai and Lao AM: letters by category, but they join what is before them


# Characters of undisputed width that never join another: as a set of a regular expression.
NARROW = (
    " -~\xa1-\xac\xae-\u02ff"  # ASCII, Latin (not the soft hyphen), IPA, modifier letters
    "\u0370-\u0373\u0376\u0377\u037b-\u037f\u0384-\u038a\u038c\u038e-\u03a1\u03a3-\u03ff"  # Greek
    "\u0400-\u0482\u048a-\u052f\u1e00-\u1eff"  # Cyrillic, more Latin
    "\u2010-\u2027\u2030-\u203b\u203d-\u2048\u204a-\u205e\u20a0-\u20bf"  # punctuation, bullets, currencies
    "\u2190-\u2193\u219a-\u21a8\u21ab-\u21ff\u2200-\u22ff"  # arrows and operators, but for emoji
    "\u2500-\u257f\u2580-\u259f\u25a0-\u25a9\u25ac-\u25b5\u25b7-\u25bf\u25c1-\u25fa"  # boxes, blocks, shapes
    "\u2713\u2715\u2717\u2718\u2800-\u28ff"  # check marks, braille
)
WIDE = (
    "\u3001-\u3029\u3041-\u3096\u309b-\u30ff\u3105-\u312f\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff"
    "\uff01-\uff60\uffe0-\uffe6\U00020000-\U0002a6df"
)
_needs_clustering = re.compile(f"[^{NARROW}{WIDE}]").search


def clusters(plain: str) -> Sequence[str]:
    """Grapheme clusters of text without sequences, none wider than two cells."""
    if _needs_clustering(plain) is None:
        return plain
    parts = list(wcwidth.iter_graphemes(plain))
    # Tested all at once: looking at one after the other takes twice as long.
    if max(map(len, parts)) <= LONGEST and _ONE_OR_TWO.issuperset(map(width_of, parts)):
        return parts
    return list(_each_cluster(plain))


def _each_cluster(plain: str) -> Iterator[str]:
    for cluster in _graphemes(plain):
        if width_of(cluster) <= 2:
            yield cluster
        else:
            yield from _parts(cluster)


def _graphemes(plain: str) -> Iterator[str]:
    """Unicode's clusters, none longer than the limit."""
    at = 0
    for cluster in wcwidth.iter_graphemes(plain):
        if len(cluster) > LONGEST or (not width_of(cluster) and _is_flood(plain, at)):
            yield from _limited(plain, at)
            return
        yield cluster
        at += len(cluster)


def _limited(plain: str, at: int) -> Iterator[str]:
    """The same from `at` on, looking ahead no further than it takes. After a cut everything begins anew, so that what
    is wrapped or sliced there has the same clusters by itself."""
    while at < len(plain):
        if _is_flood(plain, at):
            cluster = plain[at : at + LONGEST]
        else:
            cluster = next(wcwidth.iter_graphemes(plain, at, at + _AHEAD))
            if len(cluster) > LONGEST:
                # Where terminals take it apart depends on the characters beside the place, and on nothing before.
                cluster = _parts(cluster)[0][:LONGEST]
        yield cluster
        at += len(cluster)


def _is_flood(plain: str, at: int) -> bool:
    """Whether from here on as many characters as a cluster may have take no cell."""
    return at + LONGEST <= len(plain) and not any(map(width_of, plain[at : at + LONGEST]))


def cells(plain: str) -> int:
    return sum(map(width_of, clusters(plain)))


def prefix_within(plain: str, width: int, room: int) -> int:
    """The length of a text that fits into `width` cells; of one that does not, how much of it fits into `room`."""
    if plain.isascii():
        return len(plain) if len(plain) <= width else room
    column = at = end = 0
    for cluster in _each_cluster(plain):
        column += width_of(cluster)
        at += len(cluster)
        if column <= room:
            end = at
        elif column > width:
            return end
    return len(plain)


def is_ideographic(cluster: str) -> bool:
    """Whether a row may end before and after it without a space: it is wide, and no conjunct of narrow letters."""
    return width_of(cluster) == 2 and (len(cluster) == 1 or width_of(cluster[0]) == 2 or _EMOJI_STYLE in cluster)


def _character_width(character: str) -> int:
    if (exception := _EXCEPTIONS.get(character)) is not None:
        return exception
    width = max(0, wcwidth.wcwidth(character))
    return max(1, width) if unicodedata.category(character) == "Mc" else width


def _parts(cluster: str) -> list[str]:
    """A cluster as terminals take it apart."""
    starts = [at for at in range(1, len(cluster)) if not _joins(cluster[at - 1], cluster[at])]
    return [cluster[start:end] for start, end in pairwise((0, *starts, len(cluster)))]


def _part_width(part: str) -> int:
    width = _character_width(part[0])
    if _EMOJI_STYLE in part:
        return max(width, int(wcwidth.width(part[0] + _EMOJI_STYLE)))
    if _TEXT_STYLE in part:
        return min(width, int(wcwidth.width(part[0] + _TEXT_STYLE)))
    return width


def _joins(before: str, character: str) -> bool:
    """Whether terminals draw a character of a cluster into the cells of what comes before it."""
    if character < "\u0100":
        return False
    if _is_skin_tone(character):
        return _takes_skin_tone(before) is not None
    if unicodedata.category(character) != "Lo" or character in _SPACING_VOWELS:
        return True
    return before != _JOINER and not unicodedata.category(before).startswith("M")


class _Widths(dict[str, int]):
    """Widths of clusters already seen, bounded; text repeats itself."""

    def __missing__(self, cluster: str) -> int:
        width = sum(map(_part_width, _parts(cluster))) or len(cluster) // LONGEST
        if len(cluster) <= LONGEST:
            if len(self) >= _CACHED_AT_MOST:
                self.clear()
            self[cluster] = width
        return width


width_of = _Widths().__getitem__
