"""What is known of the vendors' models, from `data/models.json`: a copy of their documentation as of its date.

A model that is not in it can be used all the same; then nothing is known of it but its name. `context` is what a model
reads, which is less than its window where the vendor limits the input by itself. `best` is the one a vendor recommends
for this kind of work.
"""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TypeVar

import msgspec

from sightline.models._api import ModelFacts

T = TypeVar("T")

_FILE = Path(__file__).parent / "data" / "models.json"
# A version of a model that is otherwise the model: -20250929, -2025-08-07, -latest.
_dated = re.compile(r"-(?:20\d{6}|20\d\d-\d\d-\d\d|latest)\Z")


class KnownModel(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    id: str
    released: str  # 2026-09-22
    context: int
    max_output: int
    thinking: bool
    images: bool
    tools: bool


class CatalogueVendor(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    best: str
    models: list[KnownModel]


class ModelCatalogue(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    date: str
    anthropic: CatalogueVendor
    openai: CatalogueVendor
    google: CatalogueVendor
    openrouter: CatalogueVendor


@cache
def catalogue() -> ModelCatalogue:
    return msgspec.json.decode(_FILE.read_bytes(), type=ModelCatalogue)


def vendor(provider: str) -> CatalogueVendor | None:
    if provider not in ModelCatalogue.__struct_fields__[1:]:
        return None
    found: CatalogueVendor = getattr(catalogue(), provider)
    return found


def of_version(models: Mapping[str, T], model_id: str) -> T | None:
    """The entry of a model, or of the model that it is a dated version of."""
    return models.get(model_id) or models.get(_dated.sub("", model_id))


def known(provider: str, model_id: str) -> KnownModel | None:
    listed = vendor(provider)
    models = {model.id: model for model in listed.models} if listed is not None else {}
    return of_version(models, model_id)


def facts_of(provider: str, model_id: str) -> ModelFacts:
    model = known(provider, model_id)
    if model is None:
        return ModelFacts(id=model_id, provider=provider)
    return ModelFacts(
        id=model_id,
        provider=provider,
        context=model.context,
        max_output=model.max_output,
        thinking=model.thinking,
        images=model.images,
        tools=model.tools,
    )
