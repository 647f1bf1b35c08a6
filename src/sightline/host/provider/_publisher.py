"""The runs of a provider as its session has them: prompts, begins, everything that is done, ends and answers.

Rules:

- A run begins when its prompt is taken, not with the provider's first output. Its start is published once, by us.
- What the provider prints and does is published and stored without the secrets of this environment. What the user
  types reaches it as it is.
- However a run ended, it has one end, nothing of it stays open, and what it answered is in the tree.
"""

from collections.abc import Sequence
from typing import Literal

from sightline.actors import Actor
from sightline.events import (
    Error,
    ModelState,
    NativeSessionState,
    ProviderState,
    RunEnded,
    RunStarted,
    SteeringState,
    User,
)
from sightline.host.provider._answer import masked_answer
from sightline.host.provider._events import Translation
from sightline.host.provider._memory import ProviderMemory
from sightline.providers import ProviderOutcome
from sightline.text import clean_line, clean_text


class RunPublisher:
    """One run after the other. `model`: which one answers, as far as that is known."""

    def __init__(self, actor: Actor, memory: ProviderMemory, *, model: str, cwd: str) -> None:
        self.model = model
        self.translation: Translation | None = None  # of the current run
        self._actor = actor
        self._memory = memory
        self._cwd = cwd

    def publish_facts(self, provider: str, *, steers: bool) -> None:
        """What views know of the agent before it does anything."""
        self._actor.publish(ProviderState(provider).as_state())
        self._actor.publish(ModelState(self.model).as_state())
        self._actor.publish(SteeringState(steers).as_state())
        self._publish_native_session()

    def prompt(
        self,
        text: str,
        attachments: Sequence[str] = (),
        *,
        how: Literal["prompt", "follow_up", "steer"] = "prompt",
        source: str = "person",
    ) -> None:
        """Publish and store a prompt. `source`: who wrote it."""
        shown = clean_text(self._actor.secrets.masked(text))
        self._actor.observed_by(source).publish(User(shown, [*attachments], how))
        self._memory.prompted(shown)

    def begin(self, sent: str) -> Translation:
        """`sent`: what the provider is given, which some repeat."""
        self._actor.publish(RunStarted(self._actor.log.id, clean_line(self.model), clean_line(self._cwd)))
        self.translation = Translation(self._actor, clean_text(sent), self._on_run, is_running=True)
        return self.translation

    def end(self, outcome: ProviderOutcome | None, problem: Error | None = None, *, stopped: bool = False) -> None:
        """`outcome`: None when the provider was never started. `problem`: why it was not, or what broke off here."""
        translation, self.translation = self.translation, None
        assert translation is not None
        translation.close()
        if problem is not None:
            self._actor.publish(problem)
        outcome = outcome or ProviderOutcome(exit_code=130 if stopped else 1, cancelled=stopped)
        error = problem or outcome.error
        if translation.is_running:
            reason = "cancelled" if stopped or outcome.cancelled else "timeout" if outcome.timed_out else ""
            code = outcome.exit_code if reason else outcome.native_exit_code
            self._actor.publish(RunEnded(None, None, reason, error is not None, code))
        masked = self._actor.secrets.masked
        self._memory.answered(
            masked_answer(outcome, self._actor.secrets),
            self._actor.name(self.model),
            cancelled=outcome.cancelled,
            error=masked(error.text) if error is not None else "",
        )
        self._memory.note()

    def report(self, problem: Error) -> None:
        """An error of ours about the run."""
        self._actor.observed_by("sightline").publish(problem)

    def know_model(self, model: str) -> None:
        if model != self.model:
            self.model = model
            self._actor.publish(ModelState(model).as_state())

    def _on_run(self, event: RunStarted) -> None:
        """The provider reports its own start: what it calls the conversation, and its model."""
        if event.session and event.session != self._memory.session:
            self._memory.session = event.session
            self._memory.note()
            self._publish_native_session()
        if event.model:
            self.know_model(event.model)

    def _publish_native_session(self) -> None:
        self._actor.publish(NativeSessionState(clean_line(self._memory.session)).as_state())
