"""From what the user calls a model to the model: roles, and short names.

How a loose name is understood (`sonnet`, `opus 4.5`, `gpt5 mini`):

1. Name and model id are taken apart into words and numbers; dates, `latest` and `preview` do not count.
2. A model fits when it has all words of the name, in any order, and a version that begins with the name's numbers.
3. The family that has the fewest words besides those of the name wins: `flash` is not flash-lite.
4. Of a family, a version that is exactly the one named wins, otherwise the newest model does.
5. Several families that fit equally well are a mistake that lists them. The same family at several providers is none:
   providers are tried in their order.
"""

import re
from collections.abc import Iterable
from typing import Literal, get_args

import msgspec

from sightline.exceptions import UserMistake

Role = Literal["default", "small", "slow", "vision"]
ROLES: tuple[Role, ...] = get_args(Role)

_words = re.compile(r"[a-z]+|\d+")
_dates = re.compile(r"20\d\d-\d\d-\d\d|20\d{6}")
_NO_WORD = frozenset({"latest", "preview", "exp"})


class ModelCandidate(msgspec.Struct, frozen=True):
    """A model that could be meant. `rank` is its provider's place in the order of providers."""

    name: str  # provider/id
    id: str
    released: str = ""
    rank: int = 0

    @property
    def words(self) -> tuple[str, ...]:
        """Without the maker's name a reseller puts before it."""
        return parts(self.id.rpartition("/")[2])[0]

    @property
    def version(self) -> tuple[int, ...]:
        return parts(self.id.rpartition("/")[2])[1]


def parts(name: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The words of a name, and the numbers in it."""
    pieces = [piece for piece in _words.findall(_dates.sub("", name.lower())) if piece not in _NO_WORD]
    words = tuple(piece for piece in pieces if piece.isalpha())
    return words, tuple(int(piece) for piece in pieces if piece.isdecimal())


def match(name: str, offered: Iterable[ModelCandidate]) -> ModelCandidate | None:
    """The model a loose name means, None when nothing fits."""
    offered = list(offered)
    exact = [each for each in offered if name.lower() in (each.name.lower(), each.id.lower())]
    if exact:
        return min(exact, key=lambda each: each.rank)
    words, version = parts(name)
    if not words and not version:
        return None
    fitting = [each for each in offered if set(words) <= set(each.words) and each.version[: len(version)] == version]
    families = _families(fitting, words)
    if len(families) > 1:
        found = ", ".join(_best(family, version).name for family in families)
        raise UserMistake(f"{name} matches several models: {found}", "name one of them")
    return _best(families[0], version) if families else None


def _families(fitting: list[ModelCandidate], words: tuple[str, ...]) -> list[list[ModelCandidate]]:
    """Those with the fewest other words, the newest first."""
    families: dict[frozenset[str], list[ModelCandidate]] = {}
    for model in fitting:
        families.setdefault(frozenset(model.words), []).append(model)
    fewest = min((len(family) for family in families), default=0)
    nearest = [models for family, models in families.items() if len(family) == fewest]
    return sorted(nearest, key=lambda models: max(model.released for model in models), reverse=True)


def _best(family: list[ModelCandidate], version: tuple[int, ...]) -> ModelCandidate:
    exact = [model for model in family if version and model.version == version]
    newest = max(exact or family, key=lambda model: (model.version != (), model.released, model.version))
    same = [model for model in family if model.version == newest.version]
    return min(same, key=lambda model: (model.rank, model.id != newest.id))
