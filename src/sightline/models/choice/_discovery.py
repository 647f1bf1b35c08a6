"""Where models can be had: keys in the environment, servers in the settings, servers on this machine.

- No paid API is requested here. Servers on this machine are queried for their models (`GET …/models`), all at the same
  time and for no longer than 300 ms; so are servers the settings name, wherever they are.
- A base URL in the environment stands for a key: a server of one's own may want none.
"""

import asyncio
import os
from collections.abc import Iterable, Mapping
from typing import Literal
from urllib.parse import urlsplit

import msgspec

from sightline.models._api import ModelFacts
from sightline.settings import Settings
from sightline.text import clean_line

Api = Literal["anthropic", "responses", "chat", "gemini"]

ASK_SECONDS = 0.3
_REPLY_LIMIT = 4 * 1024 * 1024
_MOST_MODELS = 1000


class ModelServer(msgspec.Struct, frozen=True, kw_only=True):
    """Where models can be had, and how they are spoken to."""

    name: str  # the part of a model's name before the slash
    api: Api
    base_url: str = ""  # empty: the vendor's own
    key: str = ""
    found: str = ""  # what it was found by: the name of a variable, a file's section, an address
    provider: str = ""  # as the catalogue knows it; empty: not in it
    headers: dict[str, str] = {}
    models: tuple[str, ...] = ()  # its models in the settings
    context: int | None = None


class KeyVendor(msgspec.Struct, frozen=True):
    """Whose models can be had with a key. The first variable that is set counts."""

    name: str
    api: Api
    provider: str
    keys: tuple[str, ...]
    base_urls: tuple[str, ...] = ()
    base_url: str = ""
    # Names that are this vendor's whether or not the catalogue knows them.
    prefixes: tuple[str, ...] = ()


# In the order in which they are preferred.
VENDORS = (
    KeyVendor(
        "anthropic", "anthropic", "anthropic", ("ANTHROPIC_API_KEY",), ("ANTHROPIC_BASE_URL",), prefixes=("claude-",)
    ),
    KeyVendor(
        "openai",
        "responses",
        "openai",
        ("OPENAI_API_KEY",),
        ("OPENAI_BASE_URL",),
        prefixes=("gpt-", "o1", "o3", "o4", "codex-", "chatgpt-"),
    ),
    KeyVendor(
        "google",
        "gemini",
        "google",
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        ("GEMINI_BASE_URL", "GOOGLE_GEMINI_BASE_URL"),
        prefixes=("gemini-", "gemma-"),
    ),
    KeyVendor(
        "openrouter",
        "chat",
        "openrouter",
        ("OPENROUTER_API_KEY",),
        ("OPENROUTER_BASE_URL",),
        "https://openrouter.ai/api/v1",
    ),
)
# The same models and the same key through another API: to be named, never chosen.
OTHER_APIS = (KeyVendor("openai-chat", "chat", "openai", ("OPENAI_API_KEY",), ("OPENAI_BASE_URL",)),)

# Usual places on this machine, in the order in which they are preferred.
LOCAL = {
    "ollama": "http://127.0.0.1:11434/v1",
    "llama.cpp": "http://127.0.0.1:8080/v1",
    "vllm": "http://127.0.0.1:8000/v1",
    "lmstudio": "http://127.0.0.1:1234/v1",
}


def place_of(vendor: KeyVendor, environ: Mapping[str, str]) -> ModelServer | None:
    """None without a key or a base URL."""
    key = next((name for name in vendor.keys if environ.get(name, "").strip()), "")
    base = next((name for name in vendor.base_urls if environ.get(name, "").strip()), "")
    if not key and not base:
        return None
    return ModelServer(
        name=vendor.name,
        api=vendor.api,
        base_url=environ[base].strip() if base else vendor.base_url,
        key=environ[key].strip() if key else "",
        found=key or base,
        provider=vendor.provider,
    )


def configured(settings: Settings, environ: Mapping[str, str]) -> list[ModelServer]:
    """The servers of the settings, in their order."""
    return [
        ModelServer(
            name=name,
            api=server.api,
            base_url=server.base_url,
            key=environ.get(server.api_key_env, "").strip() if server.api_key_env else "",
            found=f"models.servers.{name}",
            headers=server.headers,
            models=tuple(server.models),
            context=server.context or None,
        )
        for name, server in settings.models.servers.items()
    ]


def local(environ: Mapping[str, str]) -> list[ModelServer]:
    """Where a server on this machine would be, whether or not there is one."""
    places = dict(LOCAL)
    if host := environ.get("OLLAMA_HOST", "").strip():
        places["ollama"] = ollama_url(host)
    return [
        ModelServer(name=name, api="chat", base_url=url, found=url.removesuffix("/v1")) for name, url in places.items()
    ]


def ollama_url(host: str) -> str:
    """OLLAMA_HOST is an address to listen at as well: everywhere means here, and each part may be missing."""
    scheme, separator, rest = host.rpartition("://")
    parts = urlsplit(f"//{rest.rstrip('/')}")
    try:
        port = parts.port or {"https": 443, "http": 80}.get(scheme if separator else "", 11434)
    except ValueError:
        port = 11434
    name = parts.hostname or "127.0.0.1"
    name = "127.0.0.1" if name in ("0.0.0.0", "::") else f"[{name}]" if ":" in name else name
    return f"{scheme or 'http'}://{name}:{port}{parts.path}/v1"


class DiscoveryAnswers(msgspec.Struct, frozen=True):
    """The answers of servers, by their names."""

    models: dict[str, list[ModelFacts]] = {}
    silent: dict[str, str] = {}  # those without a list, and why
    unreached: list[str] = []  # those of them that did not answer at all


class _NoList(ValueError):
    """An answer that is no list of models; the message is why."""


class _NoAnswer(Exception):
    """No connection, or no answer in time; the message is why."""


def ask(places: Iterable[ModelServer], seconds: float = ASK_SECONDS) -> DiscoveryAnswers:
    """The models the servers list. In a thread, so that it can be called where an event loop runs."""
    places = list(places)
    answers = DiscoveryAnswers()
    if not places:
        return answers
    from threading import Thread

    thread = Thread(target=lambda: asyncio.run(_ask_all(places, seconds, answers)), daemon=True)
    thread.start()
    thread.join()
    return answers


async def _ask_all(places: list[ModelServer], seconds: float, answers: DiscoveryAnswers) -> None:
    replies = await asyncio.gather(*(_reply(place, seconds) for place in places))
    for place, reply in zip(places, replies, strict=True):
        if isinstance(reply, _NoAnswer | _NoList):
            answers.silent[place.name] = str(reply)
            if isinstance(reply, _NoAnswer):
                answers.unreached.append(place.name)
            continue
        answers.models[place.name] = listed(reply, place)
        if not answers.models[place.name]:
            answers.silent[place.name] = "its answer names no models"


async def _reply(place: ModelServer, seconds: float) -> "bytes | _NoAnswer | _NoList":
    """Its reply, or why there is none."""
    try:
        async with asyncio.timeout(seconds):
            return await _get(place)
    except TimeoutError:
        return _NoAnswer(f"no answer in {seconds * 1000:.0f} ms")
    except _NoList as error:
        return error
    except OSError as error:
        named = os.strerror(error.errno) if error.errno is not None and error.errno > 0 else error.strerror
        return _NoAnswer((named or "it is not reachable").lower())
    except (EOFError, ValueError, asyncio.LimitOverrunError):
        return _NoList("its answer is not HTTP, or the address is wrong")


async def _get(place: ModelServer) -> bytes:
    """As little of HTTP as a list needs. Importing a real client would take longer than the answer."""
    url = urlsplit(place.base_url)
    secure = url.scheme == "https"
    port = url.port or (443 if secure else 80)
    reader, writer = await asyncio.open_connection(url.hostname, port, ssl=secure or None)
    try:
        key = f"Authorization: Bearer {place.key}\r\n" if place.key else ""
        path = f"{url.path.rstrip('/')}/models"
        request = (
            f"GET {path} HTTP/1.1\r\nHost: {url.netloc.rpartition('@')[2]}\r\nAccept: application/json\r\n"
            f"Connection: close\r\n{key}\r\n"
        )
        writer.write(request.encode("ascii"))
        head = await reader.readuntil(b"\r\n\r\n")
        status = head.split(None, 2)[1].decode("ascii")
        if status != "200":
            raise _NoList(f"HTTP {int(status)}")
        return await _body(reader, head)
    finally:
        writer.close()


async def _body(reader: asyncio.StreamReader, head: bytes) -> bytes:
    """In chunks, by its length, or, from a server that sends neither, until the connection ends."""
    lines = [line.partition(b":") for line in head.lower().split(b"\r\n")[1:]]
    fields = {name.strip(): value.strip() for name, _, value in lines}
    if b"chunked" in fields.get(b"transfer-encoding", b""):
        return await _chunks(reader)
    if b"content-length" in fields:
        return await reader.readexactly(_within_limit(int(fields[b"content-length"])))
    body = b""
    while piece := await reader.read(65536):
        body += piece
        _within_limit(len(body))
    return body


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    body = b""
    while size := int((await reader.readuntil(b"\n")).partition(b";")[0], 16):
        _within_limit(len(body) + size)
        body += await reader.readexactly(size)
        await reader.readuntil(b"\n")
    return body


def _within_limit(size: int) -> int:
    if not 0 <= size <= _REPLY_LIMIT:
        raise _NoList("its answer is too long")
    return size


class _Architecture(msgspec.Struct):
    input_modalities: list[str] = []


class _TopProvider(msgspec.Struct):
    max_completion_tokens: int | None = None


class _Meta(msgspec.Struct):
    n_ctx: int | None = None


class _Listed(msgspec.Struct):
    """One model of a list, with the fields of different servers."""

    id: str
    max_model_len: int | None = None  # vLLM
    context_length: int | None = None  # OpenRouter
    context_window: int | None = None  # Groq
    max_context_length: int | None = None  # LM Studio, Mistral
    meta: _Meta | None = None  # llama.cpp
    architecture: _Architecture | None = None
    top_provider: _TopProvider | None = None
    supported_parameters: list[str] | None = None


class _List(msgspec.Struct):
    data: list[object]


def listed(reply: bytes, place: ModelServer) -> list[ModelFacts]:
    """The models in a server's reply; what is no such list has none."""
    try:
        items = msgspec.json.decode(reply, type=_List).data
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return []
    return [facts for item in items[:_MOST_MODELS] if (facts := _facts(item, place)) is not None]


def _facts(item: object, place: ModelServer) -> ModelFacts | None:
    try:
        model = msgspec.convert(item, _Listed)
    except msgspec.ValidationError:
        name = item.get("id") if isinstance(item, dict) else None
        if not isinstance(name, str):
            return None
        model = _Listed(name)
    if not model.id or model.id != clean_line(model.id) or "embed" in model.id.lower():
        return None
    limits = (model.max_model_len, model.context_length, model.context_window, model.max_context_length)
    context = next((number for number in limits if number), None) or (model.meta.n_ctx if model.meta else None)
    return ModelFacts(
        id=model.id,
        provider=place.provider or place.name,
        context=place.context or context,
        max_output=model.top_provider.max_completion_tokens if model.top_provider else None,
        images="image" in model.architecture.input_modalities if model.architecture else None,
        thinking="reasoning" in model.supported_parameters if model.supported_parameters is not None else None,
        tools="tools" in model.supported_parameters if model.supported_parameters is not None else None,
    )
