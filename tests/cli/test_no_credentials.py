"""What the program says about its settings and its failures has no credentials in it."""

import json
import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.cli.support import sightline

PASSWORD = "hunter2-in-the-url"
HEADER = "abc123-in-the-header"
QUERY = "q123456-in-the-query"
SECRETS = (PASSWORD, HEADER, QUERY)


@pytest.fixture
def settings(tmp_path, monkeypatch):
    """The person's file, with a server whose address and headers are secret; nothing listens there."""
    folder = tmp_path / "sightline-home"
    folder.mkdir()
    monkeypatch.chdir(tmp_path)
    path = folder / "settings.toml"
    path.write_text(
        "[models]\ndefault = 'mine/model'\n"
        f"[models.servers.mine]\nbase_url = 'http://me:{PASSWORD}@127.0.0.1:9/v1?api_key={QUERY}'\nmodels = ['model']\n"
        f"headers = {{ Authorization = 'Bearer {HEADER}', X-Api-Key = '{HEADER}' }}\n"
    )
    return path


def said(*words, **environ):
    done = sightline(*words, env={**os.environ, "SIGHTLINE_RETRY_ATTEMPTS": "0", **environ})
    return (done.stdout + done.stderr).decode()


@pytest.mark.parametrize(
    "words",
    [
        ("config",),
        ("config", "--json"),
        ("config", "models"),
        ("config", "models.servers.mine.base_url"),
        ("config", "models.servers.mine.headers.Authorization"),
        ("config", "get", "models.servers.mine.headers.X-Api-Key", "--json"),
        ("models",),
        ("models", "--json"),
        ("models", "--remote"),
        ("doctor",),
        ("-p", "hello"),
        ("-p", "hello", "--output", "json"),
        ("ps",),
        ("sessions",),
    ],
    ids=" ".join,
)
def test_no_command_prints_a_credential_of_the_settings(settings, words):
    """Whether it shows them or fails because of them."""
    text = said(*words)
    assert text
    assert not any(secret in text for secret in SECRETS), text


def test_a_header_is_shown_as_set(settings):
    """That it is there is all there is to know."""
    shown = {each["key"]: each["value"] for each in json.loads(said("config", "--json"))}
    assert shown["models.servers.mine.headers.Authorization"] == "[set]"
    assert shown["models.servers.mine.base_url"] == "http://[hidden]@127.0.0.1:9/v1?api_key=[hidden]"


def test_changing_one_does_not_print_it(settings):
    """The answer says what was changed, not to what."""
    settings.write_text("[models.servers.mine]\nbase_url = 'http://h/v1'\n[models.servers.mine.headers]\n")
    for key in ("headers.Authorization", "base_url"):
        text = said("config", "set", f"models.servers.mine.{key}", f"https://u:{PASSWORD}@h/?token={QUERY}")
        assert f"models.servers.mine.{key} = " in text
        assert not any(secret in text for secret in SECRETS), text


@pytest.mark.parametrize(
    "wrong",
    [
        f"[models]\ndiscover = 'http://me:{PASSWORD}@h'\n",
        f"[models.servers.x]\nbase_url = ['http://me:{PASSWORD}@h']\n",
        f"[permissions]\nallow = ['network(https://me:{PASSWORD}@h)']\n",
        f"[bash]\ntimeout = 'Authorization: Bearer {HEADER}'\n",
    ],
)
def test_a_mistake_is_told_without_it(settings, wrong):
    """The place and what is wanted are enough."""
    settings.write_text(wrong)
    text = said("config")
    assert "error: " in text
    assert not any(secret in text for secret in SECRETS), text


@pytest.mark.parametrize("words", [("config",), ("models",), ("doctor",), ("-p", "hello")], ids=" ".join)
@pytest.mark.parametrize(
    "wrong",
    [
        "headers = 'Authorization: Bearer correcthorsebattery'",
        "headers = ['correcthorsebattery']",
        "headers = { X-Custom = ['correcthorsebattery'] }",
        "headers = { X-Custom = 12345678 }",
    ],
)
def test_a_mistake_among_headers_is_told_without_any_value(settings, wrong, words):
    """However little it looks like a credential."""
    settings.write_text(f"[models.servers.mine]\nbase_url = 'http://h/v1'\n{wrong}\n")
    text = said(*words)
    assert "models.servers.mine.headers" in text
    assert not any(secret in text for secret in ("correcthorsebattery", "12345678")), text


@pytest.mark.parametrize(
    ("address", "secret"),
    [
        ("http://me:p@ss-w0rd-tail@127.0.0.1:9/v1", "w0rd-tail"),
        ("http://me:pass/w0rd-tail@127.0.0.1:9/v1", "w0rd-tail"),
        ("http://127.0.0.1:9/v1?code=codehunter77", "codehunter77"),
        ("http://127.0.0.1:9/v1?sas=sashunter", "sashunter"),
    ],
)
def test_an_address_is_shown_without_its_credential(settings, address, secret):
    """A password with an `@` or a `/` in it, and less common parameters."""
    settings.write_text(f"[models.servers.mine]\nbase_url = '{address}'\nmodels = ['m']\n")
    for words in (("config",), ("config", "models.servers.mine.base_url")):
        text = said(*words)
        assert "[hidden]" in text
        assert secret not in text


def test_a_proxy_with_a_password_is_not_printed(settings):
    """Nor one that cannot be used."""
    for proxy in (f"http://me:{PASSWORD}@127.0.0.1:9", f"nonsense://me:{PASSWORD}@h"):
        settings.write_text("[models.servers.x]\nbase_url = 'http://far.invalid/v1'\nmodels = ['m']\n")
        text = said("-p", "hello", "--model", "x/m", HTTP_PROXY=proxy, ALL_PROXY=proxy, http_proxy=proxy)
        assert PASSWORD not in text, text


class Quoting(BaseHTTPRequestHandler):
    """A server that answers with all it was sent, as a failure."""

    def do_POST(self) -> None:
        body = json.dumps({"error": {"message": f"bad key {self.headers['Authorization']} at {self.path}"}}).encode()
        self.send_response(401)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


def test_a_server_that_quotes_the_key_is_quoted_without_it(settings, tmp_path):
    """On the screen, in the debug log and in what is stored."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Quoting)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        settings.write_text(
            f"[models.servers.x]\nbase_url = 'http://127.0.0.1:{server.server_port}/v1'\nmodels = ['m']\n"
            f"headers = {{ Authorization = 'Bearer {HEADER}' }}\n"
        )
        log = tmp_path / "debug.log"
        text = said("-p", "hello", "--model", "x/m", "--debug-log", str(log))
    finally:
        server.shutdown()
        server.server_close()
    assert "bad key" in text
    stored = [path.read_bytes().decode(errors="replace") for path in settings.parent.rglob("*") if path.is_file()]
    kept = [one for one in stored if "[models.servers.x]" not in one]
    assert not any(HEADER in one for one in (text, log.read_text(), *kept))
    assert log.stat().st_mode & 0o777 == 0o600
