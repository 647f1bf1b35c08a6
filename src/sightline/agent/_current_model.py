"""The model of an agent, its thinking level, and the models for images and small work."""

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager

from sightline.actors import Actor
from sightline.agent.conversation._memory import Memory
from sightline.agent.loop._model_request import has_new_image
from sightline.conversation import Message
from sightline.events import ModelState, Notice, ThinkingState
from sightline.exceptions import SightlineError
from sightline.models import Model, ModelError, ModelFacts, ModelRequest, Piece
from sightline.settings import Settings, Thinking


class MissingModel:
    """Stands in where there is none to ask: until another is chosen, requests fail as the first look for one did."""

    api = ""

    def __init__(self, why: SightlineError) -> None:
        self.why = why
        self.facts = ModelFacts(id="")

    def stream(self, request: ModelRequest) -> AsyncIterator[Piece]:
        raise ModelError("not_found", self.why.message, self.why.hint)

    async def close(self) -> None:
        pass


class CurrentModel:
    """`model` is what the next request goes to. Those before it, which may still be answering, are closed with it."""

    def __init__(
        self,
        model: Model,
        thinking: Thinking,
        *,
        open_model: Callable[[str], Model],
        settings: Callable[[], Settings],
        memory: Memory,
        actor: Actor,
        chosen: bool = False,
    ) -> None:
        """`chosen`: it is not the one the session had, or the settings have: it is stored with the next prompt."""
        self.model = model
        self.thinking = thinking
        self._open = open_model
        self._settings = settings
        self._memory = memory
        self._actor = actor
        self._chosen = chosen
        self._before: list[Model] = []
        self._seeing: Model | None = None  # answers for one that cannot see

    @property
    def facts(self) -> ModelFacts:
        return self.model.facts

    @property
    def name(self) -> str:
        """The name that `choose` takes."""
        alone = not self.facts.provider or self.facts.id.startswith(f"{self.facts.provider}:")
        return self.facts.id if alone else f"{self.facts.provider}/{self.facts.id}"

    @property
    def why_missing(self) -> SightlineError | None:
        """Why there is none to ask; None when there is one."""
        return self.model.why if isinstance(self.model, MissingModel) else None

    def choose(self, name: str) -> None:
        """Ask another model from the next request on."""
        model = self._open(name)
        self._before.append(self.model)
        self.model = model
        self._note()
        self._actor.publish(ModelState(self.name).as_state())

    @contextmanager
    def other(self, name: str) -> Iterator[None]:
        """Another model for one run; after that the one before it, unless the user has chosen one meanwhile."""
        model, before = self._open(name), self.model
        self.note_chosen()  # the session's own
        self.model = model
        self._actor.publish(ModelState(self.name).as_state())
        try:
            yield
        finally:
            if self.model is model:
                self._before.append(model)
                self.model = before
                self._actor.publish(ModelState(self.name).as_state())
            else:
                self._before.append(before)

    def think(self, level: Thinking) -> None:
        self.thinking = level
        self._memory.note("thinking_level_change", {"level": level})
        self._actor.publish(ThinkingState(level).as_state())

    def note_chosen(self) -> None:
        """A prompt is stored: so is which model it is for, where that was named for it."""
        if self._chosen:
            self._chosen = False
            self._note()

    def for_turn(self, messages: Sequence[Message]) -> Model:
        """The model that works; the one for images when it cannot see what has just come."""
        name = self._settings().models.vision
        if self.facts.images is not False or not name or not has_new_image(messages):
            return self.model
        if self._seeing is None:
            self._seeing = self._open(name)
        self._actor.publish(Notice(f"asking {self._seeing.facts.id} about the image"))
        return self._seeing

    def for_small_work(self) -> Model:
        """To be closed by the caller unless it is the model that works."""
        small = self._settings().models.small
        return self._open(small) if small else self.model

    async def close(self) -> None:
        for model in (*self._before, self.model, self._seeing):
            if model is not None:
                await model.close()

    def _note(self) -> None:
        self._memory.note("model_change", {"model": self.name})
