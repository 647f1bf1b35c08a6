"""The empty editor as rows without style, for the first paint.

`PromptEditor` draws the same in colour while nothing is written; a test compares them.
"""

PLACEHOLDER = "ask anything · / commands · @ files · ! shell · $ Python"
CURSOR = (1, 1)
"""Row and column of the cursor: on the first cell of the placeholder."""


def empty_rows(columns: int) -> list[str]:
    """A rule, one blank cell and the placeholder, a rule. For five columns and more."""
    line = "─" * columns
    room = columns - 1
    hint = PLACEHOLDER if len(PLACEHOLDER) <= room else PLACEHOLDER[: room - 1] + "…"
    return [line, " " + hint, line]
