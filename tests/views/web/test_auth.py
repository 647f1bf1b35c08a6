"""Who may ask: the token, the host and the origin, decided before anything looks at what is asked."""

import httpx2
import pytest

from tests.views.web.conftest import Served, serving

PATHS = [
    "/",
    "/?token=wrong",
    "/static/app.js",
    "/static/none.js",
    "/api/sessions",
    "/api/jobs/k3m9qz-1",
    "/nothing/at/all",
]
METHODS = ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"]


def ask(served: Served, path: str, method: str = "GET", **headers: str) -> httpx2.Response:
    return httpx2.request(method, served.base + path, headers=headers, follow_redirects=False)


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
    answers = {str(as_seen(ask(served, path, Host=host, **served.headers))) for path in PATHS}
    assert len(answers) == 1
    assert answers.pop().startswith("(403,")


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "https://127.0.0.1:PORT", "http://127.0.0.1:1", "http://localhost:PORT"]
)
def test_a_page_from_elsewhere_is_refused(served, origin):
    """An Origin that is not this very host and port gets 403, the same for any path and method."""
    headers = {**served.headers, "Origin": origin.replace("PORT", port_of(served))}
    answers = {str(as_seen(ask(served, path, method, **headers))) for path in PATHS for method in METHODS}
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
    answer = httpx2.get(served.base + "/api/sessions", headers=[*headers, *served.headers.items()])
    assert answer.status_code == 403


def test_the_printed_url_signs_a_browser_in(served):
    """The token goes from the URL into a cookie no script can read and no other site can use, and out of the URL."""
    answer = ask(served, f"/?token={served.token}")
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    page = ask(served, "/", Cookie=f"other=1; {cookie.partition(';')[0]}")
    assert page.status_code == 200
    assert "<title>Sightline" in page.text


@pytest.mark.parametrize("path", ["/api/sessions", "/static/app.js", "/index.html"])
def test_the_token_in_a_url_counts_only_at_the_front_door(served, path):
    """Elsewhere it would end up in places where URLs are kept."""
    assert ask(served, f"{path}?token={served.token}").status_code == 401


def test_two_servers_keep_their_cookies_apart(served, tmp_path):
    """Cookies do not tell ports apart, so each server has its own name for its own."""
    with serving(tmp_path) as other:
        names = {ask(one, f"/?token={one.token}").headers["set-cookie"].partition("=")[0] for one in (served, other)}
        assert len(names) == 2
        assert ask(other, "/api/sessions", **served.headers).status_code == 401


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
