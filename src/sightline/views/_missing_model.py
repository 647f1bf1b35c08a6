"""Whether a session can be answered at all."""

from collections.abc import Mapping

from sightline.events import ModelState, ProviderState


def lacks_model(states: Mapping[str, object]) -> bool:
    """Whether our own agent works in it and reports that it has no model."""
    provider = ProviderState.among(states)
    return ModelState.among(states) == ModelState("") and not (provider and provider.name)
