"""A model by its name."""

from collections.abc import Mapping

from sightline.exceptions import UserMistake
from sightline.models._api import Model
from sightline.settings import Settings


def open_model(name: str, settings: Settings, environ: Mapping[str, str]) -> Model:
    if name.startswith("scripted:"):
        from sightline.models._scripted import ScriptedModel

        return ScriptedModel(name.removeprefix("scripted:"), retry=settings.retry)
    raise UserMistake(f"no model {name}", "see `sightline models`")
