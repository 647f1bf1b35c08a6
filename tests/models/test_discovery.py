"""What can be had: keys, servers in the settings, servers on this machine."""

import asyncio
import time

import pytest

from sightline.exceptions import UserMistake
from sightline.models import open_model, usable
from sightline.models.choice._available import Available
from sightline.models.choice._discovery import ModelServer, ask, local, ollama_url
from sightline.testing.standin import StandIn
from tests.models.support import listing, settings


def place(url: str, name: str = "here", **more: object) -> ModelServer:
    return ModelServer(name=name, api="chat", base_url=f"{url}/v1", **more)  # type: ignore[arg-type]


def test_the_usual_places() -> None:
    """Ollama, llama.cpp, vLLM and LM Studio, on this machine only."""
    found = {each.name: each.base_url for each in local({})}
    assert found == {
        "ollama": "http://127.0.0.1:11434/v1",
        "llama.cpp": "http://127.0.0.1:8080/v1",
        "vllm": "http://127.0.0.1:8000/v1",
        "lmstudio": "http://127.0.0.1:1234/v1",
    }


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("0.0.0.0", "http://127.0.0.1:11434/v1"),
        ("0.0.0.0:5000", "http://127.0.0.1:5000/v1"),
        (":5000", "http://127.0.0.1:5000/v1"),
        ("box", "http://box:11434/v1"),
        ("box:5000", "http://box:5000/v1"),
        ("http://box", "http://box:80/v1"),
        ("https://box/ollama/", "https://box:443/ollama/v1"),
        ("[::1]:5000", "http://[::1]:5000/v1"),
        ("box:port", "http://box:11434/v1"),
    ],
)
def test_ollama_host(host: str, url: str) -> None:
    """Every form Ollama itself understands."""
    assert ollama_url(host) == url


@pytest.mark.parametrize(
    ("said", "context"),
    [
        ({}, None),
        ({"max_model_len": 32768}, 32768),
        ({"context_length": 131072}, 131072),
        ({"context_window": 8192}, 8192),
        ({"max_context_length": 4096}, 4096),
        ({"meta": {"n_ctx": 2048, "n_ctx_train": 8192}}, 2048),
        ({"meta": None}, None),
        ({"max_model_len": "many"}, None),
    ],
)
def test_what_a_server_says_of_a_model(said: dict[str, object], context: int | None) -> None:
    """Each server has its own word for the context; what cannot be read is not known."""
    with listing({"id": "coder", **said}) as server:
        (model,) = ask([place(server.url)]).models["here"]
    assert (model.id, model.provider, model.context) == ("coder", "here", context)


def test_the_settings_know_the_context_better() -> None:
    """What a server's section says counts."""
    with listing({"id": "coder", "max_model_len": 32768}) as server:
        (model,) = ask([place(server.url, context=16_000)]).models["here"]
    assert model.context == 16_000


@pytest.mark.parametrize(
    "reply",
    [b"", b"<html>hello</html>", b"[]", b'{"data": 7}', b'{"data": [1, {}, {"id": 7}, {"id": ""}]}', b"\xff\xfe"],
)
def test_what_is_no_list_of_models(reply: bytes) -> None:
    """Something else at that port is no model server, and does no harm."""
    with listing(reply=reply) as server:
        assert ask([place(server.url)]).models.get("here", []) == []


def test_names_that_could_do_harm() -> None:
    """A name with control characters is none."""
    with listing("fine", "a\x1b[31mb", "line\nbreak") as server:
        assert [model.id for model in ask([place(server.url)]).models["here"]] == ["fine"]


def test_who_refuses_or_is_not_there() -> None:
    """Neither is in the answer."""
    with listing("coder", status=401) as server:
        found = ask([place(server.url), place("http://127.0.0.1:9", "nobody"), place("http://no such host", "odd")])
    assert found.models == {}
    assert found.silent["here"] == "HTTP 401"
    assert found.silent["nobody"] == "connection refused"
    assert found.silent["odd"]


def test_all_are_asked_at_once_and_not_for_long() -> None:
    """Ten servers that do not answer cost no more than one."""
    with listing("slow", seconds=30) as slow, listing("quick") as quick:
        begun = time.monotonic()
        found = ask([*(place(slow.url, f"slow-{number}") for number in range(10)), place(quick.url, "quick")])
        assert time.monotonic() - begun < 3
        assert list(found.models) == ["quick"]
        assert found.silent["slow-0"] == "no answer in 300 ms"


async def test_it_can_be_asked_where_a_loop_runs() -> None:
    """As an agent does that opens a model."""
    with listing("coder") as server:
        assert asyncio.get_running_loop().is_running()
        assert list(ask([place(server.url)]).models) == ["here"]


def test_discovery_can_be_switched_off() -> None:
    """Then nobody on this machine is asked; servers of the settings still are."""
    with listing("local") as server, listing("mine") as mine:
        servers = {"mine": {"base_url": f"{mine.url}/v1"}}
        here = Available(settings(servers=servers), {"OLLAMA_HOST": server.url})
        assert [offer.name for offer in here.queried()] == ["mine/mine"]
        assert not server.asked
        here = Available(settings(discover=True, servers=servers), {"OLLAMA_HOST": server.url})
        assert [offer.name for offer in here.queried()][:2] == ["mine/mine", "ollama/local"]


def test_a_server_is_asked_once_whatever_it_is_called() -> None:
    """One that is in the settings is not found a second time as a local one."""
    with listing("coder") as server:
        url = server.url.replace("127.0.0.1", "localhost")
        here = Available(
            settings(discover=True, servers={"mine": {"base_url": f"{url}/v1"}}), {"OLLAMA_HOST": server.url}
        )
        assert [offer.name for offer in here.queried()] == ["mine/coder"]
        assert len(server.asked) == 1


def test_a_server_gets_its_own_key() -> None:
    """And a local one that needs none gets none."""
    with listing("coder") as server:
        servers = {"mine": {"base_url": f"{server.url}/v1", "api_key_env": "MINE"}}
        Available(settings(servers=servers), {"MINE": "my-secret", "OPENAI_API_KEY": "other"}).queried()
        (_, headers) = server.asked[0]
    assert headers["authorization"] == "Bearer my-secret"
    assert "other" not in str(headers)


def test_listing_asks_no_vendor() -> None:
    """Only `remote` does; then what the vendor says comes beside what is known."""
    with listing("claude-opus-5-5", "claude-of-next-year") as vendor:
        environ = {"ANTHROPIC_API_KEY": "my-key", "ANTHROPIC_BASE_URL": vendor.url}
        names = {model.name for model in usable(settings(), environ).models}
        assert not vendor.asked
        assert "anthropic/claude-of-next-year" not in names
        found = usable(settings(), environ, remote=True)
        ((path, headers),) = vendor.asked
    assert path.startswith("/v1/models")
    assert headers["x-api-key"] == "my-key"
    by_name = {model.name: model for model in found.models}
    assert by_name["anthropic/claude-of-next-year"].context is None
    assert by_name["anthropic/claude-opus-5-5"].context == 1_000_000
    assert len(by_name) == len(found.models)


def test_a_vendor_that_refuses_is_a_note() -> None:
    """The rest is listed all the same, and the key is not in what is said."""
    with listing(status=401, reply=b'{"error": "my-secret-key is bad"}') as vendor:
        found = usable(
            settings(), {"OPENAI_API_KEY": "my-secret-key", "OPENAI_BASE_URL": f"{vendor.url}/v1"}, remote=True
        )
    assert found.notes == ["openai: the key is not accepted"]
    assert found.models


def test_googles_list() -> None:
    """It has a form of its own, and models that do not talk."""
    reply = (
        b'{"models": [{"name": "models/gemini-x", "inputTokenLimit": 1000, "outputTokenLimit": 100, "thinking": true,'
        b'"supportedGenerationMethods": ["generateContent"]}, {"name": "models/embedding-1",'
        b'"supportedGenerationMethods": ["embedContent"]}]}'
    )
    with listing(reply=reply) as vendor:
        found = usable(settings(), {"GEMINI_API_KEY": "k", "GEMINI_BASE_URL": vendor.url}, "gemini-x", remote=True)
    (model,) = found.models
    assert (model.name, model.context, model.max_output, model.thinking) == ("google/gemini-x", 1000, 100, True)


def test_a_server_that_keeps_its_connections_open_is_found_at_once() -> None:
    """Its answer ends where its length says; the stand-in is such a server."""
    with StandIn.in_thread([[{"text": "Hello."}]]) as server:
        here = Available(settings(servers={"mine": {"base_url": f"{server.url}/v1"}}), {})
        assert [offer.name for offer in here.queried()] == ["mine/standin-1"]
        assert here.silent() == []


@pytest.mark.parametrize(
    ("answer", "models", "why"),
    [
        (b'Transfer-Encoding: chunked\r\n\r\n9;x=y\r\n{"data": \r\ne\r\n[{"id": "a"}]}\r\n0\r\n\r\n', ["a"], ""),
        (b'CONTENT-LENGTH:23\r\n\r\n{"data": [{"id": "a"}]}', ["a"], ""),
        (b"Content-Length: 99999999\r\n\r\n{", [], "its answer is too long"),
        (b"Content-Length: -1\r\n\r\n{", [], "its answer is too long"),
        (b'Content-Length: 12\r\n\r\n{"data": []}', [], "its answer names no models"),
        (b"Content-Length: many\r\n\r\n{", [], "its answer is not HTTP, or the address is wrong"),
    ],
)
async def test_where_an_answer_ends(answer: bytes, models: list[str], why: str) -> None:
    """In chunks or by its length, on a connection that stays open; what is too long is not read."""
    done = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\n" + answer)
        await done.wait()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        found = await asyncio.to_thread(ask, [place(f"http://127.0.0.1:{port}")], 10)
        done.set()
    assert [model.id for model in found.models.get("here", [])] == models
    assert found.silent.get("here", "") == why


def test_a_named_server_that_does_not_answer_is_told() -> None:
    """With its name and the reason, in the list and where a model of it was wanted."""
    named = settings(servers={"mine": {"base_url": "http://127.0.0.1:9/v1"}})
    refused, hint = "the server mine did not answer: connection refused", "is it running at http://127.0.0.1:9/v1?"
    assert usable(named, {}).notes == [f"{refused}; {hint}"]
    for name in ("", "qwen"):
        with pytest.raises(UserMistake, match=refused) as raised:
            open_model(name, named, {})
        assert raised.value.hint == hint
