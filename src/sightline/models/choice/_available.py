"""What can be used here: found once, and queried only as far as it is needed."""

from collections.abc import Mapping
from functools import cached_property

import msgspec

from sightline.models._api import ModelFacts
from sightline.models._catalogue import facts_of, known, vendor
from sightline.models.choice._discovery import VENDORS, ModelServer, ask, configured, local, place_of
from sightline.models.choice._names import ModelCandidate
from sightline.settings import Settings, with_stored_keys
from sightline.text import clean_line, without_credentials


class Offer(msgspec.Struct, frozen=True):
    """A model and where it is to be had."""

    place: ModelServer
    facts: ModelFacts

    @property
    def name(self) -> str:
        return f"{self.place.name}/{self.facts.id}"

    def named(self, rank: int) -> ModelCandidate:
        found = known(self.place.provider, self.facts.id)
        return ModelCandidate(self.name, self.facts.id, found.released if found is not None else "", rank)


class SilentServer(msgspec.Struct, frozen=True):
    """A server of the settings that did not list its models, and why."""

    place: ModelServer
    why: str
    answered: bool

    @property
    def text(self) -> str:
        what = "does not list its models" if self.answered else "did not answer"
        return f"the server {self.place.name} {what}: {self.why}"

    @property
    def hint(self) -> str:
        name = self.place.name
        if self.answered:
            return f"name a model: --model {name}/MODEL, or models.servers.{name}.models in the settings"
        return f"is it running at {clean_line(without_credentials(self.place.base_url))}?"


class Available:
    """What the settings and an environment offer."""

    def __init__(self, settings: Settings, environ: Mapping[str, str]) -> None:
        self.settings = settings
        self.environ = with_stored_keys(environ)
        self._queried: list[Offer] | None = None
        self._silent: list[SilentServer] = []

    @cached_property
    def keyed(self) -> list[ModelServer]:
        """Vendors there is a key for, in their order."""
        return [place for one in VENDORS if (place := place_of(one, self.environ)) is not None]

    @cached_property
    def configured(self) -> list[ModelServer]:
        return configured(self.settings, self.environ)

    def offers(self) -> list[Offer]:
        """What is known without a request: models of the catalogue there is a key for, and of the settings."""
        found = [
            Offer(place, facts_of(place.provider, named.id)) for place in self.keyed for named in self.of_vendor(place)
        ]
        for place in self.configured:
            found += [
                Offer(place, ModelFacts(id=name, provider=place.name, context=place.context)) for name in place.models
            ]
        return found

    def queried(self) -> list[Offer]:
        """What servers list: those of the settings that list nothing there, and those on this machine."""
        if self._queried is None:
            places = [place for place in self.configured if not place.models]
            if self.settings.models.discover:
                taken = {_address(place) for place in self.configured}
                places += [place for place in local(self.environ) if _address(place) not in taken]
            answers = ask(places)
            self._queried = [Offer(place, facts) for place in places for facts in answers.models.get(place.name, [])]
            self._silent = [
                SilentServer(place, answers.silent[place.name], answered=place.name not in answers.unreached)
                for place in self.configured
                if place.name in answers.silent
            ]
        return self._queried

    def silent(self) -> list["SilentServer"]:
        """Servers of the settings that did not list their models."""
        self.queried()
        return self._silent

    @staticmethod
    def of_vendor(place: ModelServer) -> list[ModelCandidate]:
        listed = vendor(place.provider)
        models = listed.models if listed is not None else []
        return [ModelCandidate(f"{place.name}/{model.id}", model.id, model.released) for model in models]


def _address(place: ModelServer) -> str:
    return place.base_url.rstrip("/").replace("//localhost", "//127.0.0.1")
