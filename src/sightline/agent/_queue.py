"""What waits for an agent: prompts that came while it worked, and what it is to read besides, unasked."""

from collections.abc import Callable
from typing import Literal

import msgspec

from sightline.agent._stage import Stage
from sightline.conversation import ImagePart
from sightline.events import State

How = Literal["prompt", "steer", "follow_up"]

_SHOWN = 2000  # characters of what waits


class Queued(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    how: How = "prompt"
    images: tuple[ImagePart, ...] = ()
    files: tuple[str, ...] = ()  # artifact URLs of what is no image
    origin: str = ""  # empty: the person
    job: str = ""  # whose end it tells
    shown: bool = True  # as words in the person's place; what is not is seen to happen some other way

    @property
    def attachments(self) -> list[str]:
        return [*[image.url for image in self.images], *self.files]


class GivenBack(msgspec.Struct, frozen=True):
    """What a person had queued and has again."""

    texts: list[str]
    attachments: list[str]


class Queue:
    """In the order it came. What the person would want to know of it is told (`state` queue)."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._items: list[Queued] = []
        self._told: list[dict[str, str]] = []

    def __bool__(self) -> bool:
        return any(item.shown for item in self._items)

    def add(self, queued: Queued) -> None:
        self._items.append(queued)
        self._tell()

    def take_first(self) -> list[Queued]:
        """The first prompt, after what is to be read besides."""
        prompts = [item for item in self._items if item.shown]
        return self._take([*self.unshown, *prompts[:1]])

    def take(self, how: How) -> list[Queued]:
        """What is to be put in now; of what waits for the end only the first."""
        fitting = [item for item in self._items if item.shown and item.how == how]
        return self._take([*self.unshown, *(fitting[:1] if how == "follow_up" else fitting)])

    def take_unshown(self) -> list[Queued]:
        return self._take(self.unshown)

    @property
    def unshown(self) -> list[Queued]:
        return [item for item in self._items if not item.shown]

    def give_back(self) -> GivenBack:
        """What the person had queued; the rest stays."""
        taken = self._take([item for item in self._items if not item.origin])
        return GivenBack([item.text for item in taken], [url for item in taken for url in item.attachments])

    def clear(self) -> None:
        """But for what is to be read besides: that has happened, whatever becomes of the run."""
        self._items = self.unshown
        self._tell()

    def drop_known(self, acknowledged: Callable[[str], bool]) -> None:
        """The end of a job that the model read itself meanwhile is not told again."""
        if any(item.job for item in self._items):
            self._items = [item for item in self._items if not (item.job and acknowledged(item.job))]
            self._tell()

    def _take(self, taken: list[Queued]) -> list[Queued]:
        if taken:
            gone = set(map(id, taken))
            self._items = [item for item in self._items if id(item) not in gone]
            self._tell()
        return taken

    def _tell(self) -> None:
        waiting = [{"text": q.text[:_SHOWN], "how": q.how} for q in self._items if q.how != "prompt" and q.shown]
        if waiting != self._told:
            self._told = waiting
            self._stage.publish(State("queue", waiting, source="agent"))
