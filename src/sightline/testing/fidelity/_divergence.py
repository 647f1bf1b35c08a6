"""What is raised when the terminal does not show what it must."""


class Divergence(Exception):
    """The engine and the shadow disagree; the message has which rule broke and how."""

    def __init__(self, rule: str, detail: str, agreed: int = 0) -> None:
        super().__init__(f"{rule}: {detail}")
        self.rule = rule
        self.agreed = agreed
        """How many rows agreed before."""


def require(holds: bool, rule: str, detail: str = "") -> None:
    if not holds:
        raise Divergence(rule, detail)


def same_rows(shown: list[str], expected: list[str], rule: str) -> None:
    """Row for row; reports the first that differs and its neighbours."""
    if shown == expected:
        return
    at = next(
        (index for index, (a, b) in enumerate(zip(shown, expected, strict=False)) if a != b),
        min(len(shown), len(expected)),
    )
    lines = [f"row {at} of {len(shown)} shown, {len(expected)} expected"]
    for index in range(max(0, at - 2), at + 4):
        lines.append(f"  {index}: shown {_at(shown, index)}, expected {_at(expected, index)}")
    raise Divergence(rule, "\n".join(lines), at)


def _at(rows: list[str], index: int) -> str:
    return repr(rows[index]) if index < len(rows) else "nothing"
