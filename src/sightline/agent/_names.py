"""The names of our tools on screen: the ones all providers share."""

from sightline.text import clean_line

_COMMON = {
    "read": "Read",
    "write": "Write",
    "edit": "Edit",
    "bash": "Bash",
    "search": "Grep",
    "find": "Glob",
    "todo": "Todo",
    "ask": "Ask",
    "job": "Job",
}


def shown_names(tool: str) -> tuple[str, str]:
    """The common name, which is its own where there is none, and its own."""
    own = clean_line(tool)
    return _COMMON.get(own, own), own
