"""What a provider answered, as it is stored: without secrets, and of a very long text the end.

A text is masked before it is cut: a secret that stands at the cut would be half a secret after it.
"""

from sightline.providers import WORDS_AT_MOST, ProviderOutcome
from sightline.secrets import Secrets


def masked_answer(outcome: ProviderOutcome, secrets: Secrets) -> str:
    text = secrets.masked(outcome.text)
    if not outcome.left_out and len(text) <= WORDS_AT_MOST:
        return text
    note = f"[only the end of {outcome.left_out + len(outcome.text):,} characters]\n"
    cut = max(len(text) + len(note) - WORDS_AT_MOST, secrets.longest if outcome.left_out else 0)
    return note + text[cut:]
