"""A key that was pasted: its vendor, and whether it is accepted there, found out with one request."""

import asyncio
from collections.abc import Mapping

from sightline.models._api import ModelError
from sightline.models.choice._discovery import VENDORS, KeyVendor, ModelServer, ask, place_of
from sightline.models.choice._listing import list_failure, list_path, transport_to

_SECONDS = 15.0
_SECONDS_FOR_A_SERVER = 3.0
_LONGEST = 1000
_BEGINNINGS = {"sk-ant-": "anthropic", "sk-or-": "openrouter", "AIza": "google", "sk-": "openai"}  # longest first
TITLES = {"anthropic": "Anthropic", "openai": "OpenAI", "google": "Google Gemini", "openrouter": "OpenRouter"}


def could_be_key(text: str) -> bool:
    return 8 <= len(text) <= _LONGEST and text.isascii() and text.isprintable() and " " not in text


def vendor_of_key(key: str) -> KeyVendor | None:
    """By how it begins; None: it could be of any vendor."""
    name = next((name for beginning, name in _BEGINNINGS.items() if key.startswith(beginning)), "")
    return next((one for one in VENDORS if one.name == name), None)


def key_problem(vendor: KeyVendor, key: str, environ: Mapping[str, str]) -> str:
    """What is wrong with a key, in words; empty: it is accepted. For a thread: it asks the vendor, once."""
    place = place_of(vendor, {**environ, vendor.keys[0]: key})
    assert place is not None, "it has a key"
    try:
        asyncio.run(_query(place))
    except ModelError as error:
        if error.kind == "auth":
            return f"{TITLES[vendor.name]} does not accept this key"
        return f"the key could not be checked: {error.message}"
    except TimeoutError:
        return f"the key could not be checked: no answer from {TITLES[vendor.name]} in {_SECONDS:.0f} s"
    return ""


def server_problem(base_url: str) -> str:
    """Why no models can be had at an address; empty: they can. For a thread."""
    place = ModelServer(name="it", api="chat", base_url=base_url)
    return ask([place], _SECONDS_FOR_A_SERVER).silent.get("it", "")


async def _query(place: ModelServer) -> None:
    transport = transport_to(place)
    try:
        async with asyncio.timeout(_SECONDS):
            # OpenRouter lists its models without a key.
            path = "/key" if place.provider == "openrouter" else list_path(place.api, transport.base_url)
            await transport.get(path, classify=list_failure)
    finally:
        await transport.close()
