"""Writing what was planned: every file or none, as far as one process can promise that.

Each file is replaced in one step. When one cannot be written, those written before it get their old content back; a
program killed in between leaves the files before that moment new and the others old, each of them whole. All files are
locked first, and looked at again: between that look and the new content no other edit comes in, of any session.
"""

from collections.abc import Sequence
from contextlib import ExitStack

from sightline.handles import real_path
from sightline.tools._tool import ToolError
from sightline.tools.edit._files import FilePlan
from sightline.tools.files._atomic import Writing, writing


def commit(plans: Sequence[FilePlan]) -> None:
    """Raises ToolError after putting back what was already written."""
    with ExitStack() as stack:
        files = {}
        # In one order everywhere: two sessions that edit the same files must not wait for each other.
        for plan in sorted(plans, key=lambda plan: real_path(plan.path)):
            files[plan.path] = stack.enter_context(writing(plan.path, make_folders=plan.created))
        for plan in plans:
            _refuse_changed(plan, files[plan.path])
        _commit([(plan, files[plan.path]) for plan in plans])


def _refuse_changed(plan: FilePlan, file: Writing) -> None:
    same = not file.exists() if plan.before is None else file.content(len(plan.before)) == plan.before
    if not same:
        raise ToolError(f"{plan.shown} was changed by someone else at this moment. Read it again, then edit it.")


def _commit(plans: Sequence[tuple[FilePlan, Writing]]) -> None:
    written: list[tuple[FilePlan, Writing]] = []
    try:
        for plan, file in plans:
            file.replace(plan.after)
            written.append((plan, file))
    except ToolError as problem:
        stuck = [plan.shown for plan, file in reversed(written) if not _put_back(plan, file)]
        rest = f" These were written and could not be put back: {', '.join(stuck)}." if stuck else ""
        others = " No file was changed." if len(plans) > 1 and not stuck else ""
        raise ToolError(f"{problem.message}{rest}{others}") from problem


def _put_back(plan: FilePlan, file: Writing) -> bool:
    try:
        if plan.before is None:
            file.remove()
        else:
            file.replace(plan.before)
    except ToolError:
        return False
    return True
