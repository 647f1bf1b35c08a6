"""Writing what was planned: every file or none, as far as one process can promise that.

Each file is replaced in one step. When one cannot be written, those written before it get their old content back; a
program killed in between leaves the files before that moment new and the others old, each of them whole. Sessions of
one program write one after the other: between the look at a file and its replacement no other edit comes in.
"""

import os
import threading
from collections.abc import Sequence

from sightline.tools._tool import ToolError
from sightline.tools.edit._files import Plan, stamp_of

_ONE_AT_A_TIME = threading.Lock()


def commit(plans: Sequence[Plan]) -> None:
    """Raises ToolError after putting back what was already written."""
    with _ONE_AT_A_TIME:
        _commit(plans)


def _commit(plans: Sequence[Plan]) -> None:
    written: list[Plan] = []
    try:
        for plan in plans:
            _write(plan)
            written.append(plan)
    except ToolError as problem:
        stuck = [plan.shown for plan in reversed(written) if not _put_back(plan)]
        rest = f" These were written and could not be put back: {', '.join(stuck)}." if stuck else ""
        others = " No file was changed." if len(plans) > 1 and not stuck else ""
        raise ToolError(f"{problem.message}{rest}{others}") from problem


def _write(plan: Plan) -> None:
    from sightline.tools._atomic import replace_file

    if stamp_of(plan.path) != plan.stamp:
        raise ToolError(f"{plan.shown} was changed by someone else at this moment. Read it again, then edit it.")
    try:
        if plan.created:
            os.makedirs(os.path.dirname(os.path.realpath(plan.path)), exist_ok=True)
    except OSError as problem:
        raise ToolError(f"Cannot create {plan.shown}: {problem.strerror or problem}.") from problem
    replace_file(plan.path, plan.after)


def _put_back(plan: Plan) -> bool:
    from sightline.tools._atomic import replace_file

    try:
        if plan.before is None:
            os.unlink(os.path.realpath(plan.path))
        else:
            replace_file(plan.path, plan.before)
    except (ToolError, OSError):
        return False
    return True
