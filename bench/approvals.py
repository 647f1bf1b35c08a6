"""An approval dialog of a long change: from the call to the first frame, with everything that is in between.

The change is worked out, stored beside the journal, read back as a console reads it, and drawn.
"""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from bench.row import Row
from sightline.actors import all_details
from sightline.actors._approval_details import carried, made_visible
from sightline.text import unified_diff
from sightline.tty import ImageStore, theme_for
from sightline.views.console._actions import bindings_from
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.dialogs import dialog_for

LINES = 5001
GOAL = 100.0  # milliseconds
ROUNDS = 15


def rows() -> Iterator[Row]:
    new = "".join(f"    value_{number} = compute({number}, 'some text')\n" for number in range(LINES))
    half = new.replace("some text", "other text", LINES // 2)
    for what, before in ((f"a new file of {LINES:,} lines", None), (f"a change of {LINES // 2:,} lines", half)):
        with tempfile.TemporaryDirectory(prefix="sightline-bench-") as folder:
            taken = [_opened(Path(folder), before, new) for _ in range(ROUNDS)]
        yield Row(f"approval dialog, {what}, median", GOAL, median(taken) * 1000, "ms")


def _opened(folder: Path, before: str | None, after: str) -> float:
    """Seconds until it is drawn."""
    drawing = DrawingOptions(theme_for(dark=True, depth="true"), ImageStore(), bindings_from({}), cwd="/project")
    began = time.perf_counter()
    change = unified_diff(before, after, "a/module.py", "b/module.py")
    details: dict[str, Any] = {
        "ui": {"kind": "approval"},
        "tool": "write",
        "access": "write",
        "what": "/elsewhere/module.py",
        "diff": change.text,
        "added": change.added,
        "removed": change.removed,
        "leaves": True,
    }
    request: dict[str, Any] = {"id": "request-1", "what": "approval", "choices": ["once", "no"], "agent": ""}
    request["details"] = carried(made_visible(details), folder, "request-1")
    dialog_for({**request, "details": all_details(folder, request)}, drawing, lambda: 40).render(120)
    return time.perf_counter() - began
