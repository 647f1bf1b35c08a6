"""What is known of models is whole, and agrees with the price table."""

import re

import pytest

from sightline.models._catalogue import KnownModel, catalogue, facts_of, known, vendor
from sightline.models._prices import price_of

VENDORS = ["anthropic", "openai", "google", "openrouter"]
EVERY = [(name, model) for name in VENDORS for model in getattr(catalogue(), name).models]


@pytest.mark.parametrize("name", VENDORS)
def test_a_vendors_best_model_is_listed(name: str) -> None:
    """The default can be looked up, and no model is there twice."""
    listed = vendor(name)
    assert listed is not None
    ids = [model.id for model in listed.models]
    assert listed.best in ids
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize(("name", "model"), EVERY, ids=[f"{name}/{model.id}" for name, model in EVERY])
def test_a_model_of_the_catalogue(name: str, model: KnownModel) -> None:
    """Its numbers are plausible, it is not newer than the catalogue, and it has a price unless a reseller has it."""
    assert 0 < model.max_output <= model.context <= 3_000_000
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", model.released)
    assert model.released <= catalogue().date
    if name != "openrouter":
        price = price_of(model.id, name)
        assert price is not None
        assert 0 < price.input < price.output


def test_a_dated_version_is_the_model_itself() -> None:
    """What is known of a model holds for its versions, under their own names."""
    facts = facts_of("anthropic", "claude-opus-4-5-20251101")
    assert facts.id == "claude-opus-4-5-20251101"
    assert facts.context == 200_000
    assert known("anthropic", "claude-opus-4-5-latest") is not None


def test_what_is_not_known() -> None:
    """A model of next year has a name and nothing else; so has one of a server."""
    facts = facts_of("anthropic", "claude-opus-9")
    assert (facts.context, facts.max_output, facts.thinking, facts.images, facts.tools) == (None,) * 5
    assert vendor("ollama") is None
    assert facts_of("ollama", "claude-opus-5-5").context is None
