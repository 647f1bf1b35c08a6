"""How hard a Gemini model is told to think, by what its version knows."""

from typing import Any

import pytest

from sightline.models._gemini._request import thinking_config


@pytest.mark.parametrize(
    ("model", "level", "word"),
    [
        ("gemini-3-flash-preview", "off", "minimal"),
        ("gemini-3.7-flash", "minimal", "minimal"),
        ("gemini-3.8-flash", "off", "low"),
        ("gemini-3.8-flash", "minimal", "low"),
        ("gemini-3.10-flash", "minimal", "low"),
        ("gemini-4-flash", "minimal", "low"),
        ("gemini-3.1-pro-preview", "minimal", "low"),
        ("gemini-3.8-flash", "max", "high"),
        ("gemini-flash-latest", "medium", "medium"),
    ],
)
def test_the_least_a_model_knows(model: str, level: Any, word: str) -> None:
    """From 3.8 on low is the least; what a model does not know it would refuse."""
    config = thinking_config(level, model)
    assert config is not None
    assert config.thinking_level == word
