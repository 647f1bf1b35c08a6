"""A model by its name: which client, which address, which key; and what is said when there is none."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sightline.exceptions import UserMistake
from sightline.models import Model, open_model, vision_model
from sightline.models.choice._discovery import DiscoveryAnswers
from tests.models.support import listing, settings

KEYS = {
    "ANTHROPIC_API_KEY": "sk-ant-0123456789",
    "OPENAI_API_KEY": "sk-openai-0123456789",
    "GEMINI_API_KEY": "sk-google-0123456789",
    "OPENROUTER_API_KEY": "sk-router-0123456789",
}


def full_name(model: Model) -> str:
    return f"{model.facts.provider}/{model.facts.id}"


def address(model: Any) -> str:
    where: str = model._transport.base_url
    return where


def sent(model: Any) -> dict[str, str]:
    headers: dict[str, str] = model._transport._headers
    return headers


@pytest.mark.parametrize(
    ("name", "api", "model", "where"),
    [
        ("anthropic/claude-opus-5-5", "anthropic", "anthropic/claude-opus-5-5", "https://api.anthropic.com"),
        ("anthropic/claude-of-next-year", "anthropic", "anthropic/claude-of-next-year", "https://api.anthropic.com"),
        ("anthropic/sonnet", "anthropic", "anthropic/claude-sonnet-5-5", "https://api.anthropic.com"),
        ("anthropic/opus 4.5", "anthropic", "anthropic/claude-opus-4-5", "https://api.anthropic.com"),
        ("openai/gpt-5", "responses", "openai/gpt-5", "https://api.openai.com/v1"),
        ("openai-chat/gpt-5", "chat", "openai/gpt-5", "https://api.openai.com/v1"),
        ("google/gemini-2.5-pro", "gemini", "google/gemini-2.5-pro", "https://generativelanguage.googleapis.com"),
        ("openrouter/meta/llama-9", "chat", "openrouter/meta/llama-9", "https://openrouter.ai/api/v1"),
        ("ollama/qwen3:8b", "chat", "ollama/qwen3:8b", "http://127.0.0.1:11434/v1"),
        ("vllm/org/model", "chat", "vllm/org/model", "http://127.0.0.1:8000/v1"),
        ("sonnet", "anthropic", "anthropic/claude-sonnet-5-5", "https://api.anthropic.com"),
        ("opus 4.5", "anthropic", "anthropic/claude-opus-4-5", "https://api.anthropic.com"),
        ("gpt5 mini", "responses", "openai/gpt-5-mini", "https://api.openai.com/v1"),
        ("gpt-99-ultra", "responses", "openai/gpt-99-ultra", "https://api.openai.com/v1"),
        ("claude-of-next-year", "anthropic", "anthropic/claude-of-next-year", "https://api.anthropic.com"),
        ("", "anthropic", "anthropic/claude-opus-5-5", "https://api.anthropic.com"),
        ("default", "anthropic", "anthropic/claude-opus-5-5", "https://api.anthropic.com"),
    ],
)
def test_names(name: str, api: str, model: str, where: str) -> None:
    """Each form of a name opens the model it means at the address it is at."""
    opened = open_model(name, settings(), KEYS)
    assert (opened.api, full_name(opened), address(opened)) == (api, model, where)


@pytest.mark.parametrize(
    ("name", "header", "value"),
    [
        ("anthropic/claude-opus-5-5", "x-api-key", "sk-ant-0123456789"),
        ("openai/gpt-5", "authorization", "Bearer sk-openai-0123456789"),
        ("google/gemini-2.5-pro", "x-goog-api-key", "sk-google-0123456789"),
        ("openrouter/a/b", "authorization", "Bearer sk-router-0123456789"),
    ],
)
def test_the_key_goes_where_its_api_wants_it(name: str, header: str, value: str) -> None:
    """And nobody is sent another vendor's."""
    headers = sent(open_model(name, settings(), KEYS))
    assert headers[header] == value
    assert not [other for other in KEYS.values() if other not in value and other in str(headers)]


def test_what_is_known_comes_with_the_model() -> None:
    """From the catalogue for a vendor's model; nothing is made up for another."""
    known = open_model("anthropic/claude-haiku-4-5", settings(), KEYS).facts
    assert (known.context, known.max_output, known.images, known.tools) == (200_000, 64_000, True, True)
    assert open_model("ollama/claude-haiku-4-5", settings(), {}).facts.context is None


@pytest.mark.parametrize(
    ("variable", "name"),
    [
        ("ANTHROPIC_BASE_URL", "anthropic/claude-opus-5-5"),
        ("OPENAI_BASE_URL", "openai/gpt-5"),
        ("OPENAI_BASE_URL", "openai-chat/gpt-5"),
        ("GEMINI_BASE_URL", "google/gemini-2.5-pro"),
        ("GOOGLE_GEMINI_BASE_URL", "google/gemini-2.5-pro"),
        ("OPENROUTER_BASE_URL", "openrouter/a/b"),
    ],
)
def test_a_base_url_of_the_environment(variable: str, name: str) -> None:
    """It is used, and is enough without a key."""
    opened = open_model(name, settings(), {variable: "http://127.0.0.1:9/v1"})
    assert address(opened) == "http://127.0.0.1:9/v1"


def test_a_server_of_the_settings() -> None:
    """Its address, API, key, headers and context are those of its section."""
    server = {
        "base_url": "http://10.0.0.7:8000/v1",
        "api": "responses",
        "api_key_env": "LAB_KEY",
        "context": 32_000,
        "headers": {"x-team": "blue"},
    }
    opened = open_model("lab/coder", settings(servers={"lab": server}), {"LAB_KEY": "secret-of-the-lab"})
    assert (opened.api, full_name(opened), address(opened)) == ("responses", "lab/coder", "http://10.0.0.7:8000/v1")
    assert opened.facts.context == 32_000
    assert sent(opened)["authorization"] == "Bearer secret-of-the-lab"
    assert sent(opened)["x-team"] == "blue"
    with pytest.raises(UserMistake, match="no key for the server lab") as raised:
        open_model("lab/coder", settings(servers={"lab": server}), {})
    assert "LAB_KEY" in raised.value.hint


def test_a_server_of_the_settings_has_the_first_word() -> None:
    """One that is called like a vendor or a local server takes its place."""
    servers = {"ollama": {"base_url": "http://10.0.0.8:11434/v1"}, "openai": {"base_url": "http://10.0.0.9/v1"}}
    here = settings(servers=servers)
    assert address(open_model("ollama/x", here, {})) == "http://10.0.0.8:11434/v1"
    opened = open_model("openai/x", here, KEYS)
    assert (address(opened), opened.api) == ("http://10.0.0.9/v1", "chat")
    assert "authorization" not in sent(opened)


def test_roles() -> None:
    """A role is what the settings say; one that is not set is the default; one may name another."""
    here = settings(default="sonnet", small="haiku", vision="small")
    opened = {role: full_name(open_model(role, here, KEYS)) for role in ("default", "small", "slow", "vision", "")}
    assert opened == {
        "default": "anthropic/claude-sonnet-5-5",
        "small": "anthropic/claude-haiku-5-5",
        "slow": "anthropic/claude-sonnet-5-5",
        "vision": "anthropic/claude-haiku-5-5",
        "": "anthropic/claude-sonnet-5-5",
    }


def test_roles_in_a_circle() -> None:
    """It is said which."""
    with pytest.raises(UserMistake, match="small → slow → small"):
        open_model("small", settings(small="slow", slow="small"), KEYS)
    with pytest.raises(UserMistake, match="refers to itself"):
        open_model("", settings(default="default"), KEYS)


def test_the_model_for_images() -> None:
    """Only where the settings name one."""
    assert vision_model(settings(), KEYS) is None
    opened = vision_model(settings(vision="gemini flash"), KEYS)
    assert opened is not None
    assert full_name(opened) == "google/gemini-3.8-flash"


def test_a_script(tmp_path: Path) -> None:
    """It needs no key, also as a role."""
    path = tmp_path / "script.json"
    path.write_text(json.dumps([[{"text": "Hi."}]]))
    assert open_model(f"scripted:{path}", settings(), {}).api == "scripted"
    assert open_model("small", settings(small=f"scripted:{path}"), {}).api == "scripted"


@pytest.mark.parametrize(
    ("keys", "model"),
    [
        (["OPENROUTER_API_KEY"], "openrouter/anthropic/claude-opus-5.5"),
        (["GEMINI_API_KEY", "OPENROUTER_API_KEY"], "google/gemini-3.8-flash"),
        (["GEMINI_API_KEY", "OPENAI_API_KEY"], "openai/gpt-6.1-sol"),
        (["OPENAI_API_KEY", "ANTHROPIC_API_KEY"], "anthropic/claude-opus-5-5"),
    ],
)
def test_the_best_there_is_a_key_for(keys: list[str], model: str) -> None:
    """Anthropic, OpenAI, Google, OpenRouter, in this order; an empty variable is not a key."""
    environ = dict.fromkeys(KEYS, "") | {name: KEYS[name] for name in keys}
    assert full_name(open_model("", settings(), environ)) == model


def test_a_key_may_be_googles_by_its_other_name() -> None:
    """GOOGLE_API_KEY counts where GEMINI_API_KEY is not set."""
    assert open_model("google/gemini-2.5-pro", settings(), {"GOOGLE_API_KEY": "some-google-key"}).api == "gemini"


def test_the_best_without_a_key() -> None:
    """The first model of the first server in the settings, else of the first on this machine."""
    lab = {"base_url": "http://10.0.0.7/v1", "models": ["small-coder", "big-coder"]}
    assert full_name(open_model("", settings(servers={"lab": lab}), {})) == "lab/small-coder"
    with listing("text-embedding-x", "qwen3:8b") as server:
        found = open_model("", settings(discover=True), {"OLLAMA_HOST": server.url})
    assert full_name(found) == "ollama/qwen3:8b"
    assert address(found) == f"{server.url}/v1"


def test_a_loose_name_of_a_local_model() -> None:
    """Servers are asked only when nothing that is known fits."""
    with listing("qwen3:8b") as server:
        here, environ = settings(discover=True), {**KEYS, "OLLAMA_HOST": server.url}
        open_model("sonnet", here, environ)
        open_model("", here, environ)
        open_model("ollama/qwen3:8b", here, environ)
        assert not server.asked
        assert full_name(open_model("qwen", here, environ)) == "ollama/qwen3:8b"
        assert [path for path, _ in server.asked] == ["/v1/models"]


@pytest.mark.parametrize(
    ("name", "environ", "said", "hint"),
    [
        ("", {}, "no model to work with", "ANTHROPIC_API_KEY"),
        ("", {}, "no model to work with", "scripted:FILE"),
        ("sonnet", {}, "no key and no model server", "Ollama"),
        ("anthropic/claude-opus-5-5", {}, "no key for anthropic", "set ANTHROPIC_API_KEY"),
        ("claude-opus-5-5", {"OPENAI_API_KEY": "k"}, "no key for anthropic", "set ANTHROPIC_API_KEY"),
        ("google/gemini-2.5-pro", {}, "no key for google", "set GEMINI_API_KEY"),
        ("claude", KEYS, "matches several models", "name one of them"),
        ("sonet", KEYS, "no model sonet", "did you mean"),
        ("meta-llama/llama-4", KEYS, "no model meta-llama/llama-4", "openrouter/meta-llama/llama-4"),
        ("scripted:/nowhere.json", {}, "cannot read the script", "path"),
    ],
)
def test_names_of_nothing(name: str, environ: dict[str, str], said: str, hint: str) -> None:
    """What is wrong, and what to do."""
    with pytest.raises(UserMistake) as raised:
        open_model(name, settings(), environ)
    assert said in raised.value.message
    assert hint in raised.value.hint


def test_a_server_that_does_not_say_what_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then a model must be named."""
    answers = DiscoveryAnswers(silent={"lab": "HTTP 404"})
    monkeypatch.setattr("sightline.models.choice._available.ask", lambda places: answers)
    here = settings(servers={"lab": {"base_url": "http://127.0.0.1:9/v1"}})
    with pytest.raises(UserMistake, match="does not list its models") as raised:
        open_model("", here, {})
    assert "--model lab/MODEL" in raised.value.hint


def test_opening_by_name_imports_no_http_client() -> None:
    """That waits for the first request; nor are settings for anything else read."""
    code = (
        "import sys; from sightline.models import open_model; from sightline.settings import Settings;"
        "open_model('anthropic/claude-opus-5-5', Settings(), {'ANTHROPIC_API_KEY': 'k'});"
        "print([name for name in ('httpx2', 'ssl', 'tomllib', 'http.client') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    # asyncio brings ssl
    assert done.stdout.strip() in ("['ssl']", "[]")
