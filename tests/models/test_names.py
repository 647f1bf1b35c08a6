"""Loose names and what they mean."""

import pytest

from sightline.exceptions import UserMistake
from sightline.models.choice._names import ModelCandidate, match, parts

OFFERED = [
    ModelCandidate("anthropic/claude-sonnet-5-5", "claude-sonnet-5-5", "2026-09-28", 0),
    ModelCandidate("anthropic/claude-sonnet-4-6", "claude-sonnet-4-6", "2026-02-17", 0),
    ModelCandidate("anthropic/claude-opus-5", "claude-opus-5", "2026-07-24", 0),
    ModelCandidate("anthropic/claude-opus-4-8", "claude-opus-4-8", "2026-05-28", 0),
    ModelCandidate("anthropic/claude-opus-4-5", "claude-opus-4-5", "2025-11-24", 0),
    ModelCandidate("openai/gpt-5.4-mini", "gpt-5.4-mini", "2026-03-17", 1),
    ModelCandidate("openai/gpt-5", "gpt-5", "2025-08-07", 1),
    ModelCandidate("openai/gpt-5-mini", "gpt-5-mini", "2025-08-07", 1),
    ModelCandidate("openai/gpt-5.5", "gpt-5.5", "2026-04-23", 1),
    ModelCandidate("google/gemini-3.8-flash", "gemini-3.8-flash", "2026-09-02", 2),
    ModelCandidate("google/gemini-3.5-flash-lite", "gemini-3.5-flash-lite", "2026-12-01", 2),
    ModelCandidate("google/gemini-3.1-pro-preview", "gemini-3.1-pro-preview", "2026-02-19", 2),
    ModelCandidate("openrouter/anthropic/claude-opus-5", "anthropic/claude-opus-5", "2026-07-24", 3),
    ModelCandidate("ollama/qwen3:8b", "qwen3:8b", "", 4),
]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("sonnet", "anthropic/claude-sonnet-5-5"),
        ("Claude Sonnet", "anthropic/claude-sonnet-5-5"),
        ("sonnet 4.6", "anthropic/claude-sonnet-4-6"),
        ("claude-sonnet-4-6", "anthropic/claude-sonnet-4-6"),
        ("opus", "anthropic/claude-opus-5"),
        ("opus 4", "anthropic/claude-opus-4-8"),
        ("opus4.5", "anthropic/claude-opus-4-5"),
        ("opus-4-5-20251101", "anthropic/claude-opus-4-5"),
        ("gpt5 mini", "openai/gpt-5-mini"),
        ("mini", "openai/gpt-5.4-mini"),
        ("gpt 5", "openai/gpt-5"),
        ("gpt", "openai/gpt-5.5"),
        ("flash", "google/gemini-3.8-flash"),
        ("flash lite", "google/gemini-3.5-flash-lite"),
        ("gemini pro", "google/gemini-3.1-pro-preview"),
        ("qwen3", "ollama/qwen3:8b"),
        ("openrouter/anthropic/claude-opus-5", "openrouter/anthropic/claude-opus-5"),
    ],
)
def test_a_loose_name(name: str, meant: str) -> None:
    """Fewest other words, then exactly that version, then the newest; the first provider that has it."""
    found = match(name, OFFERED)
    assert found is not None
    assert found.name == meant


@pytest.mark.parametrize("name", ["opus 7", "llama", "gpt-7", "sonnet mini", "", "--", "日本"])
def test_a_name_nothing_fits(name: str) -> None:
    """Nothing is guessed."""
    assert match(name, OFFERED) is None


def test_a_name_several_families_fit() -> None:
    """It is a mistake, and the best of each family are named."""
    with pytest.raises(UserMistake) as raised:
        match("claude", OFFERED)
    assert "anthropic/claude-sonnet-5-5, anthropic/claude-opus-5" in raised.value.message


def test_the_order_of_offers_does_not_matter() -> None:
    """The same name means the same model however they are listed."""
    for name in ("sonnet", "opus 4", "gpt", "flash", "mini"):
        forward, backward = match(name, OFFERED), match(name, reversed(OFFERED))
        assert forward == backward


@pytest.mark.parametrize(
    ("name", "words", "version"),
    [
        ("claude-opus-4-5-20251101", ("claude", "opus"), (4, 5)),
        ("gpt-5.4-mini-2026-03-17", ("gpt", "mini"), (5, 4)),
        ("gemini-3.1-pro-preview", ("gemini", "pro"), (3, 1)),
        ("GPT5 Mini", ("gpt", "mini"), (5,)),
    ],
)
def test_the_parts_of_a_name(name: str, words: tuple[str, ...], version: tuple[int, ...]) -> None:
    """Words and numbers; dates and `preview` are neither."""
    assert parts(name) == (words, version)
