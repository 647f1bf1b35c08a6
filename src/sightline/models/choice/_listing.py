"""Everything that can be used, for the user to choose from: each model once, and what each role means."""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from sightline.exceptions import SightlineError, UserMistake
from sightline.models._api import ModelError, ModelFacts
from sightline.models._catalogue import facts_of
from sightline.models._open import SCRIPTED, chosen, client_of, role_name
from sightline.models._prices import price_of
from sightline.models.choice._available import Available, Offer
from sightline.models.choice._discovery import ModelServer, listed
from sightline.models.choice._names import ROLES, parts
from sightline.settings import Settings

if TYPE_CHECKING:
    from sightline.models.http._transport import Transport


class UsableModel(msgspec.Struct, frozen=True, kw_only=True):
    """A model as it is shown. None is not known. Prices are US dollars for a million tokens."""

    name: str
    context: int | None
    max_output: int | None
    price_in: float | None
    price_out: float | None
    images: bool | None
    thinking: bool | None
    found: str  # the variable, section or address it was found by
    roles: tuple[str, ...] = ()


class ModelListing(msgspec.Struct, frozen=True):
    models: list[UsableModel]
    notes: list[str]  # what could not be found out


def usable(settings: Settings, environ: Mapping[str, str], query: str = "", *, remote: bool = False) -> ModelListing:
    """What there is. `remote` also asks the vendors there are keys for."""
    available = Available(settings, environ)
    offers = [*available.offers(), *available.queried()]
    notes = [f"{server.text}; {server.hint}" for server in available.silent()]
    if remote:
        more, unheard = asyncio.run(_of_vendors(available.keyed))
        offers += more
        notes += unheard
    roles, unmet = _roles(available)
    notes += unmet
    unlisted = [offer for offer in roles.values() if offer.name not in {each.name for each in offers}]
    once = {offer.name: offer for offer in [*unlisted, *offers]}
    means = {role: offer.name for role, offer in roles.items()}
    rows = [_usable(offer, tuple(role for role in ROLES if means.get(role) == offer.name)) for offer in once.values()]
    return ModelListing([row for row in rows if _is_about(row.name, query)], notes)


def _roles(available: Available) -> tuple[dict[str, Offer], list[str]]:
    found: dict[str, Offer] = {}
    notes: list[str] = []
    for role in ROLES:
        try:
            name = role_name(role, available.settings)
            if not name.startswith(SCRIPTED):
                found[role] = chosen(name, available)
        except UserMistake as mistake:
            if getattr(available.settings.models, role):
                notes.append(f"models.{role}: {mistake.message}")
    return found, notes


def _usable(offer: Offer, roles: tuple[str, ...]) -> UsableModel:
    facts = offer.facts
    price = price_of(facts.id, facts.provider)
    return UsableModel(
        name=offer.name,
        context=facts.context,
        max_output=facts.max_output,
        price_in=price.input if price is not None else None,
        price_out=price.output if price is not None else None,
        images=facts.images,
        thinking=facts.thinking,
        found=offer.place.found,
        roles=roles,
    )


def _is_about(name: str, query: str) -> bool:
    words, version = parts(query)
    own_words, own_version = parts(name)
    return query.lower() in name.lower() or (
        all(any(word in own for own in own_words) for word in words) and own_version[: len(version)] == version
    )


async def _of_vendors(places: list[ModelServer]) -> tuple[list[Offer], list[str]]:
    answers = await asyncio.gather(*(_of_vendor(place) for place in places), return_exceptions=True)
    offers: list[Offer] = []
    notes: list[str] = []
    for place, answer in zip(places, answers, strict=True):
        if isinstance(answer, SightlineError):
            notes.append(f"{place.name}: {answer.message}")
        elif isinstance(answer, BaseException):
            raise answer
        else:
            offers += answer
    return offers, notes


def transport_to(place: ModelServer) -> "Transport":
    """The way to a vendor, for what is no request to a model."""
    from sightline.models.http._transport import Transport

    client = client_of(place.api)
    versions = {"anthropic-version": "2023-06-01"} if place.api == "anthropic" else {}
    return Transport(place.base_url or client.BASE_URL, {**client.headers(place.key), **versions, **place.headers})


async def _of_vendor(place: ModelServer) -> list[Offer]:
    transport = transport_to(place)
    try:
        reply = await transport.get(list_path(place.api, transport.base_url), classify=list_failure)
    finally:
        await transport.close()
    found = _google(reply, place) if place.api == "gemini" else listed(reply, place)
    return [Offer(place, _with_what_is_known(facts)) for facts in found]


def list_path(api: str, base_url: str) -> str:
    """OpenAI's base URL has its version in it, the others' may."""
    versioned = base_url.endswith(("/v1", "/v1beta", "/v1alpha"))
    if api == "gemini":
        return f"{'' if versioned else '/v1beta'}/models?pageSize=1000"
    return f"{'' if versioned else '/v1'}/models?limit=1000" if api == "anthropic" else "/models"


def list_failure(status: int, headers: Mapping[str, str], body: bytes) -> ModelError:
    text = "the key is not accepted" if status in (401, 403) else f"the list of models is not available (HTTP {status})"
    return ModelError("auth" if status in (401, 403) else "protocol", text, status=status)


def _with_what_is_known(facts: ModelFacts) -> ModelFacts:
    """The facts the vendor reports, completed from the catalogue."""
    reported = {name: value for name, value in msgspec.structs.asdict(facts).items() if value is not None}
    return msgspec.structs.replace(facts_of(facts.provider, facts.id), **reported)


class _GoogleModel(msgspec.Struct, rename="camel"):
    name: str
    input_token_limit: int | None = None
    output_token_limit: int | None = None
    thinking: bool | None = None
    supported_generation_methods: list[str] = []


class _GoogleList(msgspec.Struct):
    models: list[_GoogleModel] = []


def _google(reply: bytes, place: ModelServer) -> list[ModelFacts]:
    try:
        models = msgspec.json.decode(reply, type=_GoogleList).models
    except msgspec.MsgspecError:
        return []
    return [
        ModelFacts(
            id=model.name.removeprefix("models/"),
            provider=place.provider,
            context=model.input_token_limit,
            max_output=model.output_token_limit,
            thinking=model.thinking,
        )
        for model in models
        if "generateContent" in model.supported_generation_methods
    ]
