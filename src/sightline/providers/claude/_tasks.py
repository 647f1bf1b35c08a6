"""The plan of Claude Code, put together from the calls that change it.

Older versions write the whole plan each time (`TodoWrite`). Newer ones add a task (`TaskCreate`), learn its number from
the call's result, and change it by that number (`TaskUpdate`).
"""

import re

from sightline.events import TodoTask
from sightline.providers._plan import plan_from

_TASKS_AT_MOST = 256
_created = re.compile(r"Task #(\w{1,32}) created").match

Plan = list[TodoTask]


class Tasks:
    """What is planned, and how far it is. Each method returns the plan when the call changed it."""

    def __init__(self) -> None:
        self._tasks: dict[str, TodoTask] = {}
        self._pending: dict[str, str] = {}  # call that adds a task → what is to be done

    def called(self, native: str, native_id: str, args: object) -> Plan | None:
        if not isinstance(args, dict):
            return None
        if native == "TodoWrite":
            return plan_from(args)
        if native == "TaskCreate":
            subject = args.get("subject")
            if isinstance(subject, str) and len(self._pending) < _TASKS_AT_MOST:
                self._pending[native_id] = subject
            return None
        return self._updated(args)

    def ended(self, native_id: str, text: str) -> Plan | None:
        """A call has its result; one that added a task has its number there."""
        subject = self._pending.pop(native_id, None)
        number = _created(text)
        if subject is None or number is None or len(self._tasks) >= _TASKS_AT_MOST:
            return None
        self._tasks[number[1]] = TodoTask(subject, "pending")
        return list(self._tasks.values())

    def _updated(self, args: dict[str, object]) -> Plan | None:
        number = str(args.get("taskId"))
        task = self._tasks.get(number)
        if task is None:
            return None
        status, subject = args.get("status"), args.get("subject")
        if status == "deleted":
            del self._tasks[number]
        else:
            text = subject if isinstance(subject, str) else task.text
            self._tasks[number] = TodoTask(text, status if isinstance(status, str) else task.status)
        return list(self._tasks.values())
