"""Upkeep of the todo list besides the tool: ended tasks leave it, and the model is reminded of a failed change."""

import asyncio
from collections.abc import Callable

from sightline.actors import Actor
from sightline.conversation import ToolMessage, text_of
from sightline.events import Notice, StateFact
from sightline.text import clean_line, first_line
from sightline.tools import Workplace

_FAILED = """\
<system-reminder>
Your last change of the todo list failed, so the user does not see how far you are. Look at the error and make the \
change again with the todo tool.
</system-reminder>"""
_EDITED = """\
<system-reminder>
The user has edited the todo list. It is now:

{list}
Go by this list from here on.
</system-reminder>"""


class TodoReminders:
    """Of one agent's list. `todo.clear_delay` says how long a task that was completed or dropped stays in it."""

    def __init__(
        self,
        actor: Actor,
        workplace: Workplace,
        store_value: Callable[[str, object, StateFact | None], None],
        add_unshown_message: Callable[[str, str], None],
    ) -> None:
        self._actor = actor
        self._workplace = workplace
        self._store_value = store_value
        self._add_unshown_message = add_unshown_message
        self._timers: list[asyncio.TimerHandle] = []

    def on_stored(self, name: str) -> None:
        """A value was stored: if it is the list, schedule the removal of ended tasks."""
        delay = self._workplace.settings.todo.clear_delay
        if name != "todo" or delay < 0:
            return
        from sightline.tools.todo import ended, phases_of

        tasks = ended(phases_of(self._workplace))
        if tasks:
            loop = asyncio.get_running_loop()
            self._timers = [timer for timer in self._timers if timer.when() > loop.time()]
            self._timers.append(loop.call_later(delay, self._clear, tasks))

    def answered(self, message: ToolMessage) -> None:
        if message.name != "todo" or not message.is_error:
            return
        why = clean_line(first_line(text_of(message)))
        text = f"the agent could not update the todo list: {why}"
        self._actor.publish(Notice(text, "warning", "the list on screen may be out of date"))
        self._add_unshown_message(_FAILED, "todo")

    def edit(self, markdown: str) -> str:
        """Replace the list with the user's; returns it as it is now."""
        from sightline.tools.todo import from_markdown, plan, set_phases, to_markdown

        phases = from_markdown(markdown)
        self._store_value("todo", set_phases(self._workplace, phases), plan(phases))
        now = to_markdown(phases)
        self._add_unshown_message(_EDITED.format(list=now or "(empty)\n"), "todo")
        return now

    def markdown(self) -> str:
        """The stored list, with tasks that had ended before the session was resumed."""
        from sightline.tools.todo import stored_phases, to_markdown

        return to_markdown(stored_phases(self._workplace))

    def publish(self) -> None:
        """Publish the list, after a resume or on another branch."""
        from sightline.tools.todo import phases_of, plan

        self._actor.publish(plan(phases_of(self._workplace)).as_state())

    def close(self) -> None:
        for timer in self._timers:
            timer.cancel()

    def _clear(self, tasks: list[tuple[str, str]]) -> None:
        """Remove those of them that have not been reopened."""
        from sightline.tools.todo import phases_of, set_phases, without

        workplace = self._workplace
        before = phases_of(workplace)
        after = without(before, tasks)
        if after != before:
            workplace.stored["todo"] = set_phases(workplace, after)
            self.publish()
