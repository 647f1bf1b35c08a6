"""What an answer cost: known prices, and everything that is not known."""

import pytest

from sightline.events import Usage
from sightline.models._prices import PriceTable, cost, price_of, price_table


@pytest.mark.parametrize(
    ("model", "provider", "usage", "dollars"),
    [
        pytest.param("claude-sonnet-4-5", "anthropic", Usage(1_000_000, 1_000_000), 18.0, id="input and output"),
        pytest.param("claude-sonnet-4-5-20250929", "anthropic", Usage(0, 1_000_000), 15.0, id="dated"),
        pytest.param("claude-3-7-sonnet-latest", "anthropic", Usage(1_000_000, 0), 3.0, id="latest"),
        pytest.param("gpt-5-2025-08-07", "openai", Usage(1_000_000, 0), 1.25, id="dated with dashes"),
        pytest.param(
            "claude-sonnet-4-5",
            "anthropic",
            Usage(100_000, 0, cache_read_tokens=1_000_000, cache_write_tokens=1_000_000),
            0.3 + 0.3 + 3.75,
            id="cache beside the input",
        ),
        pytest.param(
            "gpt-5", "openai", Usage(1_000_000, 0, cache_read_tokens=600_000), 0.5 + 0.075, id="cache among the input"
        ),
        pytest.param("gemini-2.5-pro", "google", Usage(200_000, 0), 0.25, id="not yet long"),
        pytest.param("gemini-2.5-pro", "google", Usage(400_000, 100_000), 1.0 + 1.5, id="long"),
    ],
)
def test_a_known_model_costs_what_the_table_says(model: str, provider: str, usage: Usage, dollars: float) -> None:
    """Per million tokens, cached ones at their own price."""
    assert cost(model, provider, usage) == pytest.approx(dollars)


@pytest.mark.parametrize(
    ("model", "provider", "usage"),
    [
        pytest.param("claude-sonnet-99", "anthropic", Usage(1, 1), id="a model nobody knows"),
        pytest.param("gpt-5-super", "openai", Usage(1, 1), id="a sibling of a known one"),
        pytest.param("gpt-5", "anthropic", Usage(1, 1), id="a model of somebody else"),
        pytest.param("gpt-5", "my-server", Usage(1, 1), id="a server of one's own"),
        pytest.param("gpt-5", "date", Usage(1, 1), id="a word of the table"),
        pytest.param("openai/gpt-5", "openrouter", Usage(1, 1), id="a reseller"),
        pytest.param("gpt-5", "openai", None, id="no usage"),
        pytest.param("gpt-5", "openai", Usage(), id="empty usage"),
        pytest.param("gpt-5", "openai", Usage(1), id="output not said"),
        pytest.param("gpt-5", "openai", Usage(9, 1, cache_write_tokens=3), id="a kind of token without a price"),
    ],
)
def test_what_is_not_known_has_no_cost(model: str, provider: str, usage: Usage | None) -> None:
    """None, which is not the same as nothing."""
    assert cost(model, provider, usage) is None


def test_the_table_is_sound() -> None:
    """It has a date, and within a model cached input is cheaper than fresh input and that than output."""
    table = price_table()
    assert len(table.date) == 10
    for provider in PriceTable.__struct_fields__[1:]:
        for name, price in getattr(table, provider).models.items():
            assert price_of(name, provider) is price
            for rates in filter(None, (price, price.long)):
                assert 0 < (rates.cache_read or 1e-9) < rates.input < rates.output
                assert rates.cache_write is None or rates.cache_write > rates.input
