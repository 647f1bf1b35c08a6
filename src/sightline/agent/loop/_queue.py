"""The queue of an agent: prompts that came during a run, texts no view shows, and when both reach the model."""

from collections.abc import Callable
from typing import Literal

import msgspec

from sightline.actors import Actor
from sightline.conversation import ImagePart
from sightline.events import QueuedMessage, QueueState
from sightline.tools import ToolRegistry, Workplace
from sightline.tools.skills import SkillUse

How = Literal["prompt", "steer", "follow_up"]

_SHOWN = 2000  # characters of what waits


class QueuedPrompt(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    how: How = "prompt"
    images: tuple[ImagePart, ...] = ()
    files: tuple[str, ...] = ()  # artifact URLs of what is no image
    origin: str = ""  # empty: the user
    job: str = ""  # whose end it reports
    shown: bool = True  # as a message; what is not shown, views see in some other way
    mail: str = ""  # the id of the message that it is
    skill: SkillUse | None = None  # that the user has the agent use with it
    unless: Callable[[], bool] | None = None  # dropped where this holds: the model has read of it meanwhile
    on_read: Callable[[], object] | None = None  # called when it is in the conversation
    on_dropped: Callable[[], object] | None = None  # called when it never will be: the run was stopped

    @property
    def attachments(self) -> list[str]:
        return [*[image.url for image in self.images], *self.files]


class ReturnedPrompts(msgspec.Struct, frozen=True):
    """What the user had queued, returned."""

    texts: list[str]
    attachments: list[str]


class PromptQueue:
    """Prompts in the order they came. What the user is to see of them is published (`state` queue)."""

    def __init__(self, actor: Actor) -> None:
        self._actor = actor
        self._items: list[QueuedPrompt] = []
        self._published = QueueState([])

    def __bool__(self) -> bool:
        return any(item.shown for item in self._items)

    def add(self, queued: QueuedPrompt) -> None:
        self._items.append(queued)
        self._publish()

    def take_first(self) -> list[QueuedPrompt]:
        """The first prompt, after the texts that are not shown."""
        prompts = [item for item in self._items if item.shown]
        return self._take([*self.unshown, *prompts[:1]])

    def take(self, how: How) -> list[QueuedPrompt]:
        """What joins the run now; of what waits for its end only the first."""
        fitting = [item for item in self._items if item.shown and item.how == how]
        return self._take([*self.unshown, *(fitting[:1] if how == "follow_up" else fitting)])

    def take_unshown(self) -> list[QueuedPrompt]:
        return self._take(self.unshown)

    @property
    def unshown(self) -> list[QueuedPrompt]:
        return [item for item in self._items if not item.shown]

    def take_back(self) -> ReturnedPrompts:
        """What the user had queued; the rest stays."""
        taken = self._take([item for item in self._items if not item.origin])
        _report_dropped(taken)
        return ReturnedPrompts([item.text for item in taken], [url for item in taken for url in item.attachments])

    def clear(self) -> None:
        """Drop all but the texts that are not shown: what they report has happened, whatever becomes of the run."""
        dropped = [item for item in self._items if item.shown]
        self._items = self.unshown
        self._publish()
        _report_dropped(dropped)

    def drop_known(self) -> None:
        """Drop what the model has read itself meanwhile: the end of a job, a message of another agent."""
        if any(item.unless is not None for item in self._items):
            self._items = [item for item in self._items if item.unless is None or not item.unless()]
            self._publish()

    def _take(self, taken: list[QueuedPrompt]) -> list[QueuedPrompt]:
        if taken:
            gone = set(map(id, taken))
            self._items = [item for item in self._items if id(item) not in gone]
            self._publish()
        return taken

    def _publish(self) -> None:
        shown = (q for q in self._items if q.how != "prompt" and q.shown and not (q.mail and q.origin))
        waiting = [QueuedMessage(q.text[:_SHOWN], q.how) for q in shown]
        if waiting != self._published.messages:
            self._published = QueueState(waiting)
            self._actor.publish(self._published.as_state())


def _report_dropped(items: list[QueuedPrompt]) -> None:
    for item in items:
        if item.on_dropped is not None:
            item.on_dropped()


class Inbox:
    """Moves what is queued into the conversation, with reminders."""

    def __init__(
        self,
        queue: PromptQueue,
        add_prompt: Callable[[QueuedPrompt], None],
        tools: ToolRegistry,
        workplace: Workplace,
        *,
        took_prompt: Callable[[], None],
    ) -> None:
        """`took_prompt`: called when something that was queued is in the conversation."""
        self.queue = queue
        self._add_prompt = add_prompt
        self._tools = tools
        self._workplace = workplace
        self._took_prompt = took_prompt
        self._reminded = 0

    def begin_run(self) -> None:
        self._reminded = 0

    def take_first(self) -> bool:
        """False when there is nothing for the model to answer."""
        self.queue.drop_known()
        return self._take(self.queue.take_first())

    def take(self, how: How) -> bool:
        self.queue.drop_known()
        return self._take(self.queue.take(how))

    def take_unshown(self) -> None:
        for queued in self.queue.take_unshown():
            self._add_prompt(queued)

    def remind(self) -> bool:
        """Remind a model that stops with open tasks of them; a limited number of times."""
        settings = self._workplace.settings.todo
        if "todo" not in self._tools or not settings.reminders or self._reminded >= settings.reminders_max:
            return False
        from sightline.tools.todo import reminder

        text = reminder(self._workplace)
        if not text:
            return False
        self._reminded += 1
        self._add_prompt(QueuedPrompt(text=text, how="follow_up", origin="todo"))
        return True

    def _take(self, taken: list[QueuedPrompt]) -> bool:
        for queued in taken:
            self._add_prompt(queued)
            if queued.on_read is not None:
                queued.on_read()
        if taken:
            self._took_prompt()
        return any(queued.shown for queued in taken)
