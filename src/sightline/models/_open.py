"""A model by its name.

    scripted:FILE                   plays a script
    anthropic/ID, openai/ID, …      a vendor's model; openai-chat/ID is openai/ID through Chat Completions
    ollama/ID, SERVER/ID            a model of a server on this machine or in the settings
    default, small, slow, vision    what the settings name; a role that is not set is the default
    sonnet, opus 4.5, gpt5 mini     the best match among what can be had (`_names.py` has the rules)
    nothing                         the default, else the best model of the first vendor there is a key for, of the
                                    first server in the settings, or of the first server on this machine

A name with a vendor or server in it costs no request and opens no connection. Servers are queried for their models only
when nothing else fits.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from sightline.exceptions import UserMistake
from sightline.models._api import Model, ModelFacts
from sightline.models._catalogue import facts_of, vendor
from sightline.models.choice._available import Available, Offer
from sightline.models.choice._discovery import OTHER_APIS, VENDORS, ModelServer, local, place_of
from sightline.models.choice._names import ROLES, match
from sightline.settings import Settings

if TYPE_CHECKING:
    from sightline.models.http._served import ServedModel

SCRIPTED = "scripted:"
_NOTHING_HINT = (
    "set ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY or OPENROUTER_API_KEY, or paste a key with /setup in the "
    "console; or start a model server on this machine (such as Ollama), or use --model scripted:FILE"
)


class NoModel(UserMistake):
    """There is neither a key nor a model server."""


def open_model(name: str, settings: Settings, environ: Mapping[str, str]) -> Model:
    name = role_name(name.strip(), settings)
    if name.startswith(SCRIPTED):
        from sightline.models._scripted import ScriptedModel

        return ScriptedModel(name.removeprefix(SCRIPTED), retry=settings.retry)
    return connected(chosen(name, Available(settings, environ)), settings)


def default_model(settings: Settings, environ: Mapping[str, str]) -> tuple[str, str]:
    """Which model would work when none is named, and what it was found by. No vendor is queried."""
    name = role_name("", settings)
    if name.startswith(SCRIPTED):
        return name, "models.default"
    offer = chosen(name, Available(settings, environ))
    return offer.name, offer.place.found


def vision_model(settings: Settings, environ: Mapping[str, str]) -> Model | None:
    """The model for images, where the settings name one."""
    return open_model(settings.models.vision, settings, environ) if settings.models.vision else None


def role_name(name: str, settings: Settings) -> str:
    """The name behind a role, empty for the best there is. Roles may name one another, but not in a circle."""
    seen: list[str] = []
    while name in ROLES:
        if name in seen:
            raise UserMistake(
                f"models.{name} refers to itself: {' → '.join([*seen, name])}", "name a model for one of them"
            )
        seen.append(name)
        name = getattr(settings.models, name).strip() or (settings.models.default.strip() if name != "default" else "")
    return name or (role_name("default", settings) if not seen and settings.models.default.strip() else "")


def chosen(name: str, available: Available) -> Offer:
    """The model a name means, and where it is to be had. The name is no role."""
    if not name:
        return _best(available)
    place_name, slash, model_id = name.partition("/")
    place = _place(place_name, available) if slash and model_id else None
    if place is not None:
        return _explicit(place, model_id)
    return _loose(name, available)


def connected(offer: Offer, settings: Settings) -> Model:
    """A client for it; nothing is sent yet."""
    from sightline.models.http._transport import Transport

    place = offer.place
    client = client_of(place.api)
    headers = {**client.headers(place.key), **place.headers}
    transport = Transport(place.base_url or client.BASE_URL, headers, retry=settings.retry)
    return client(offer.facts, transport)


def client_of(api: str) -> "type[ServedModel]":
    """The class of clients that speak an API."""
    if api == "anthropic":
        from sightline.models._anthropic import AnthropicModel

        return AnthropicModel
    if api == "gemini":
        from sightline.models._gemini import GeminiModel

        return GeminiModel
    if api == "responses":
        from sightline.models._responses import ResponsesModel

        return ResponsesModel
    from sightline.models._chat import ChatModel

    return ChatModel


def _place(name: str, available: Available) -> ModelServer | None:
    """What the part of a name before the slash stands for; the settings' word comes first."""
    for place in available.configured:
        if place.name == name:
            variable = available.settings.models.servers[name].api_key_env
            if variable and not place.key:
                raise UserMistake(f"no key for the server {name}", f"set {variable}, which the settings name for it")
            return place
    for one in (*VENDORS, *OTHER_APIS):
        if one.name == name.lower():
            found = place_of(one, available.environ)
            if found is None:
                raise UserMistake(f"no key for {one.name}", f"set {one.keys[0]}, or see `sightline models`")
            return found
    return next((place for place in local(available.environ) if place.name == name.lower()), None)


def _explicit(place: ModelServer, model_id: str) -> Offer:
    """Of a vendor, a short name is understood as well: anthropic/sonnet."""
    listed = vendor(place.provider)
    if listed is not None and not _is_whole(place, model_id):
        found = match(model_id, Available.of_vendor(place))
        model_id = found.id if found is not None else model_id
    facts = facts_of(place.provider, model_id) if place.provider else ModelFacts(id=model_id, provider=place.name)
    return Offer(place, msgspec.structs.replace(facts, context=place.context or facts.context))


def _is_whole(place: ModelServer, model_id: str) -> bool:
    prefixes = next((one.prefixes for one in VENDORS if one.provider == place.provider), ())
    return (place.name == "openrouter" and "/" in model_id) or model_id.startswith(prefixes)


def _loose(name: str, available: Available) -> Offer:
    for offers in (available.offers, available.queried):
        found = match(name, [offer.named(rank) for rank, offer in enumerate(offers())])
        if found is not None:
            return next(offer for offer in offers() if offer.name == found.name)
    maker = next((one for one in VENDORS if one.prefixes and name.startswith(one.prefixes)), None)
    if maker is not None and "/" not in name and " " not in name:
        place = _place(maker.name, available)  # a model the catalogue does not know yet
        assert place is not None
        return _explicit(place, name)
    raise _not_found(name, available)


def _not_found(name: str, available: Available) -> UserMistake:
    silent = "".join(f"; {server.text}" for server in available.silent())
    if silent and not available.offers() and not available.queried():
        return UserMistake(f"no model {name}{silent}", available.silent()[0].hint)
    if not available.offers() and not available.queried():
        return UserMistake(f"no model {name}: there is no key and no model server", _NOTHING_HINT)
    from difflib import get_close_matches

    names = [offer.name for offer in [*available.offers(), *available.queried()]]
    near = get_close_matches(name, [*names, *[each.rpartition("/")[2] for each in names]], 1, 0.5)
    hint = f"did you mean {near[0]}?" if near else "see `sightline models`"
    if "/" in name:
        hint += f"; a model of OpenRouter is openrouter/{name}"
    return UserMistake(f"no model {name}{silent}", hint)


def _best(available: Available) -> Offer:
    for place in available.keyed:
        listed = vendor(place.provider)
        if listed is not None:
            return _explicit(place, listed.best)
    for offers in (available.offers, available.queried):
        if found := offers():
            return found[0]
    for server in available.silent():
        raise UserMistake(server.text, server.hint)
    raise NoModel("there is no model to work with", _NOTHING_HINT)
