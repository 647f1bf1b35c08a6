"""Token counts as servers report them. One odd number, or none at all, must not make the answer fail."""

from sightline.chat_completions import tokens


class TokenCounts:
    """Counts that an answer reports piecemeal: a name that a report leaves out has its last count."""

    def __init__(self, *names: str) -> None:
        self._counts: dict[str, int | None] = dict.fromkeys(names)

    def update(self, report: object) -> bool:
        """Take over the counts of a report; false when it is not one."""
        if not isinstance(report, dict):
            return False
        for name in self._counts:
            if (count := tokens(report.get(name))) is not None:
                self._counts[name] = count
        return True

    def sum(self, *names: str) -> int | None:
        """The sum of the counts that are known; None when none is."""
        known = [count for name in names if (count := self._counts[name]) is not None]
        return sum(known) if known else None
