"""Who may ask: the token, the host and the origin, decided before anything looks at what is asked."""

import hashlib

import httpx2
import pytest

from sightline.views.web.api._tickets import Tickets
from tests.views.web.conftest import Served, serving

PATHS = [
    "/api/sessions",
    "/api/openapi.json",
    "/api/page",
    "/api/sessions/k3m9qz/delete",
    "/api/jobs/k3m9qz-1",
    "/api/jobs/k3m9qz-1/artifact?ticket=x",
    "/index.html",
    "/static",
    "/nothing/at/all",
]
SHELL = ["/", "/?token=wrong", "/static/app.js", "/static/none.js"]
METHODS = ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"]


def ask(served: Served, path: str, method: str = "GET", **headers: str) -> httpx2.Response:
    return httpx2.request(method, served.base + path, headers=headers, follow_redirects=False, verify=False)


def port_of(served: Served) -> str:
    return served.base.rpartition(":")[2]


def as_seen(response: httpx2.Response) -> tuple[int, bytes, list[tuple[str, str]]]:
    return response.status_code, response.content, sorted(response.headers.multi_items())


@pytest.mark.parametrize(
    "headers", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic eDp5"}, {"Cookie": "a=b"}]
)
def test_without_the_token_every_path_and_method_is_refused_alike(served, headers):
    """401 with the same body and headers, whether or not the path exists."""
    answers = {str(as_seen(ask(served, path, method, **headers))) for path in PATHS for method in METHODS}
    assert len(answers) == 1
    assert answers.pop().startswith("(401,")


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "127.0.0.2", "0.0.0.0", "[::2]"]
)
def test_a_name_that_was_made_to_point_here_is_refused(served, host):
    """DNS rebinding: 403 with the same answer for any path, even with the right token."""
    answers = {str(as_seen(ask(served, path, Host=host, **served.headers))) for path in PATHS + SHELL}
    assert len(answers) == 1
    assert answers.pop().startswith("(403,")


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "https://127.0.0.1:PORT", "http://127.0.0.1:1", "http://localhost:PORT"]
)
def test_a_page_from_elsewhere_is_refused(served, origin):
    """An Origin that is not this very host and port gets 403, the same for any path and method."""
    headers = {**served.headers, "Origin": origin.replace("PORT", port_of(served))}
    answers = {str(as_seen(ask(served, path, method, **headers))) for path in PATHS + SHELL for method in METHODS}
    assert len(answers) == 1
    assert answers.pop().startswith("(403,")


@pytest.mark.parametrize("host", ["localhost", "localhost:9999", "127.0.0.1:9999", "[::1]:9999", "LOCALHOST:1"])
def test_a_tunnel_may_use_another_port(served, host):
    """Through `ssh -L` the browser names another port, in Host and in Origin alike."""
    answer = ask(served, "/api/sessions", Host=host, Origin=f"http://{host.lower()}", **served.headers)
    assert answer.status_code == 200


def test_two_hosts_in_one_request_are_refused(served):
    """Nobody could say which of them counts."""
    headers = [("Host", "127.0.0.1"), ("Origin", "http://127.0.0.1"), ("Origin", "http://evil.example")]
    answer = httpx2.get(served.base + "/api/sessions", headers=[*headers, *served.headers.items()], verify=False)
    assert answer.status_code == 403


def test_the_page_itself_is_served_without_the_token_and_has_no_data(served):
    """A browser has to have the page before it can sign in: files of the package, the same for everybody."""
    page = ask(served, "/")
    assert (page.status_code, "<title>Sightline" in page.text) == (200, True)
    assert page.content == served.get("/").content
    assert ask(served, "/static/app.js").status_code == 200
    assert ask(served, "/", "POST").status_code == 401


@pytest.mark.parametrize("path", ["/", "/static/app.js", "/api/sessions", "/?token=TOKEN"])
def test_no_answer_sets_a_cookie(served, path):
    """A browser sends a cookie to every port of a machine: another server there would be told the token."""
    for headers in ({}, served.headers):
        answer = ask(served, path.replace("TOKEN", served.token), **headers)
        assert "set-cookie" not in answer.headers
        assert served.token not in answer.text


def test_the_token_in_a_cookie_counts_for_nothing(served):
    """Neither under the name it once had nor under any other."""
    name = f"sightline-{hashlib.sha256(served.token.encode()).hexdigest()[:8]}"
    for cookie in (f"{name}={served.token}", f"token={served.token}", served.token):
        assert ask(served, "/api/sessions", Cookie=cookie).status_code == 401


@pytest.mark.parametrize("path", ["/api/sessions", "/api/page", "/index.html"])
def test_the_token_in_a_url_counts_for_nothing(served, path):
    """It would end up in places where URLs are kept."""
    assert ask(served, f"{path}?token={served.token}").status_code == 401


def test_a_token_is_for_one_server(served, tmp_path):
    """Each start has its own."""
    with serving(tmp_path) as other:
        assert other.token != served.token
        assert ask(other, "/api/sessions", **served.headers).status_code == 401


def test_a_ticket_is_for_one_download_once(served):
    """A browser downloads by itself, without a bearer: what it is given instead opens nothing else, and not again."""
    one, two = served.run("echo", "one"), served.run("echo", "two")
    url = served.post(f"/api/jobs/{one}/download").json()["url"]
    ticket = url.partition("?")[2]
    assert served.token not in url
    for path in (f"/api/jobs/{two}/artifact", f"/api/jobs/{one}/text", "/api/sessions", f"/api/jobs/{one}/artifact/"):
        assert ask(served, f"{path}?{ticket}").status_code == 401
    assert ask(served, url, "POST").status_code == 401
    assert ask(served, url, Host="evil.example").status_code == 403
    answer = ask(served, url)
    assert (answer.status_code, answer.text) == (200, "one\n")
    assert ask(served, url).status_code == 401


def test_a_ticket_is_issued_only_with_the_token_and_for_what_there_is(served):
    """Else it would be a way around it."""
    job = served.run("true")
    assert ask(served, f"/api/jobs/{job}/download", "POST").status_code == 401
    assert served.post("/api/jobs/zzzzzz-1/download").status_code == 404


def test_a_ticket_ends_after_a_while(monkeypatch):
    """Half a minute later it is worth nothing."""
    tickets, now = Tickets(), [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    early, late = tickets.issue("/a"), tickets.issue("/a")
    now[0] += 29
    assert tickets.redeem(early, "/a")
    now[0] += 2
    assert not tickets.redeem(late, "/a")


@pytest.mark.parametrize("path", ["/", "/static/app.js", "/api/sessions", "/api/nothing"])
def test_every_answer_forbids_what_a_page_must_not_do(served, path):
    """Nothing from other servers, no framing, no guessing of types, nothing told to where a link leads."""
    headers = served.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert "access-control-allow-origin" not in headers
    assert "server" not in headers


def test_answers_of_the_api_are_not_stored(served):
    """What a command printed is not to be found in a browser's cache."""
    assert served.get("/api/sessions").headers["cache-control"] == "no-store"
