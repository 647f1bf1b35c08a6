"""What `flow check` reports, and how a wrong word gets its suggestion."""

from collections.abc import Iterable

import msgspec

from sightline.exceptions import UserMistake


class Finding(msgspec.Struct, frozen=True, order=True):
    """One mistake in a flow: where it is, what it is, what to do. Lines and columns count from 1."""

    line: int
    column: int
    message: str
    hint: str = ""


class FlowInvalid(UserMistake):
    """The flow file has mistakes: all of them, in the order of the file. Nothing was run."""

    def __init__(self, path: str, findings: list[Finding]) -> None:
        lines = [f"{path}: {len(findings)} mistake{'s' if len(findings) > 1 else ''}, nothing was run"]
        lines += [f"  line {finding.line}: {finding.message} ({finding.hint})" for finding in findings]
        super().__init__("\n".join(lines))
        self.findings = findings


def closest(word: str, known: Iterable[str]) -> str:
    """The known word that was probably meant, or nothing."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(word, list(known), n=1, cutoff=0.6)), "")


def suggestion(word: str, known: Iterable[str], otherwise: str = "") -> str:
    """The hint for a wrong word: the one that was probably meant, else all there are."""
    names = list(known)
    near = closest(word, names)
    if near:
        return f"did you mean {near}?"
    return f"known: {', '.join(names)}" if names else otherwise
