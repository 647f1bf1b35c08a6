"""What an answer cost, from the price table in `data/prices.toml`.

- A model that is not in the table, and usage that was not reported, cost an unknown amount: None, never zero.
- Only the vendors' own servers have prices here. A server of one's own has none, a reseller reports its price itself.
- Usage is as the vendor counts it: with Anthropic, what came from the cache or went there stands beside the input
  tokens, with the others it is among them (`cached_in_input`). Output tokens include the thinking.
"""

from functools import cache
from pathlib import Path

import msgspec

from sightline.events import Usage
from sightline.models._catalogue import of_version

_TABLE = Path(__file__).parent / "data" / "prices.toml"
_MILLION = 1_000_000


class Rates(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """US dollars per million tokens. None: there is no such price."""

    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None


class LongRates(Rates, frozen=True, kw_only=True, forbid_unknown_fields=True):
    over: int  # input tokens


class Price(Rates, frozen=True, kw_only=True, forbid_unknown_fields=True):
    long: LongRates | None = None


class PricedVendor(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    cached_in_input: bool
    models: dict[str, Price]


class PriceTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    date: str  # when the prices were looked up
    anthropic: PricedVendor
    openai: PricedVendor
    google: PricedVendor


@cache
def price_table() -> PriceTable:
    return msgspec.toml.decode(_TABLE.read_bytes(), type=PriceTable)


def price_of(model_id: str, provider: str) -> Price | None:
    if provider not in PriceTable.__struct_fields__[1:]:
        return None
    models: dict[str, Price] = getattr(price_table(), provider).models
    return of_version(models, model_id)


def cost(model_id: str, provider: str, usage: Usage | None) -> float | None:
    """US dollars; None when the price or the usage is not known."""
    price = price_of(model_id, provider)
    if price is None or usage is None or usage.input_tokens is None or usage.output_tokens is None:
        return None
    read, written = usage.cache_read_tokens or 0, usage.cache_write_tokens or 0
    vendor: PricedVendor = getattr(price_table(), provider)
    fresh = max(0, usage.input_tokens - read - written) if vendor.cached_in_input else usage.input_tokens
    rates = price.long if price.long is not None and fresh + read + written > price.long.over else price
    parts = [
        (fresh, rates.input),
        (usage.output_tokens, rates.output),
        (read, rates.cache_read),
        (written, rates.cache_write),
    ]
    dollars = 0.0
    for tokens, rate in parts:
        if tokens and rate is None:
            return None
        dollars += tokens * (rate or 0.0)
    return dollars / _MILLION
