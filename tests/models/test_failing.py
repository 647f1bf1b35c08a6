"""What all APIs agree on about errors."""

from collections.abc import Callable, Mapping

import pytest

from sightline.models import ModelError
from sightline.models._anthropic import _failure as anthropic
from sightline.models._gemini import _failure as gemini
from sightline.models.http import _openai_failure as openai

Classify = Callable[[int, Mapping[str, str], bytes], ModelError]


@pytest.mark.parametrize("classify", [openai.classify, anthropic.classify, gemini.classify])
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"Payment Required",
        b'{"error": {"message": "Insufficient credits", "type": "rate_limit_error", "code": "server_error"}}',
        b'{"type": "error", "error": {"type": "api_error", "message": "no credit"}}',
        b'{"error": {"code": 402, "status": "UNAVAILABLE", "message": "no credit"}}',
        b'{"error": {"code": 402, "status": "RESOURCE_EXHAUSTED", "message": "no credit"}}',
    ],
)
def test_no_credit_is_not_tried_again(classify: Classify, body: bytes) -> None:
    """Whatever the body calls it, and whatever a header says of asking again."""
    error = classify(402, {"x-should-retry": "true", "retry-after": "1"}, body)
    assert (error.kind, error.retryable) == ("quota", False)
    assert "billing and credit" in error.hint
