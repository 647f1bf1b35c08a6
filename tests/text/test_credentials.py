"""What people are told has no credentials in it."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.exec import secret_variables
from sightline.text import credentials_in, without_credentials
from sightline.text._credentials import _may_have_one, _patterns

HIDES = [
    ("https://me:hunter2@host/x", "https://[hidden]@host/x"),
    ("postgres://:pw@h/db", "postgres://[hidden]@h/db"),
    (
        "fatal: https://0123456789abcdef0123@github.com/o/r not found",
        "fatal: https://[hidden]@github.com/o/r not found",
    ),
    ("http://h/v1?api_key=abc&x=1", "http://h/v1?api_key=[hidden]&x=1"),
    ("https://h?x=1&access_token=z#f", "https://h?x=1&access_token=[hidden]#f"),
    ("https://h/?X-Amz-Signature=0a1b", "https://h/?X-Amz-Signature=[hidden]"),
    ("Authorization: Bearer abc123def", "Authorization: [hidden]"),
    ("{'x-api-key': 'abcd1234'}", "{'x-api-key': '[hidden]'}"),
    ('{"Authorization": "Basic dXNlcjpwYXNz="}', '{"Authorization": "[hidden]"}'),
    ("got 401 for Bearer abc.123-def", "got 401 for Bearer [hidden]"),
    ("Incorrect API key: sk-proj-abcdefghijkl0123456789", "Incorrect API key: [hidden]"),
    ("token ghp_a1B2c3D4e5F6g7H8i9J0k1L2 expired", "token [hidden] expired"),
    ("Set-Cookie: sid=abc123456; Path=/", "Set-Cookie: [hidden] Path=/"),
    ("http://me:p@ss-w0rd-tail@127.0.0.1:9/v1", "http://[hidden]@127.0.0.1:9/v1"),
    ("http://me:pa/ss@h/x", "http://[hidden]@h/x"),
    ("http://me:pa#s@s@h", "http://[hidden]@h"),
    ("http://me:pa?ss@h/", "http://[hidden]@h/"),
    ("redis://:1/2#word@h:6379/0", "redis://[hidden]@h:6379/0"),
    (r'{"url":"http:\/\/me:pw1@h"}', r'{"url":"http:\/\/[hidden]@h"}'),
    ("next=http%3A%2F%2Fme%3Apw1%40h", "next=http%3A%2F%2F[hidden]%40h"),
    ("http://h/v1?code=codehunter77", "http://h/v1?code=[hidden]"),
    ("http://h/v1?sas=abc&x=1", "http://h/v1?sas=[hidden]&x=1"),
    ("Authorization: Bearer correcthorsebattery", "Authorization: [hidden]"),
    ("{'Authorization': 'Bearer correcthorsebattery'}", "{'Authorization': '[hidden]'}"),
    ("X-Vault-Token: hunterhunter\nnext line", "X-Vault-Token: [hidden]\nnext line"),
    ("x-api-key = 'correct-horse-battery'", "x-api-key = '[hidden]'"),
    ('{"api-key": "abc&123456"}', '{"api-key": "[hidden]"}'),
    ("Ocp-Apim-Subscription-Key: 0123456789abcdef", "Ocp-Apim-Subscription-Key: [hidden]"),
    ('Authorization: Digest username="u", response="abc123"', "Authorization: [hidden]"),
    ("cookie: a=b; session=abcdef123", "cookie: [hidden]"),
    ("password=hunter2;Server=db;AccountKey=Zm9v==;", "password=[hidden];Server=db;AccountKey=[hidden];"),
    ("https://hooks.slack.com/services/T0/B0/abc", "https://hooks.slack.com/services/[hidden]"),
    (
        "https://api.telegram.org/bot123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw_/x",
        "https://api.telegram.org/bot[hidden]",
    ),
    ("bot123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw_ is unknown", "[hidden] is unknown"),
    ("FlyV1 fm2_lJPECAAAAAAAAA", "FlyV1 [hidden]"),
]
KEEPS = [
    "https://git@github.com/a/b",
    "ssh://git@host/x",
    "git@github.com:owner/repo.git",
    "http://127.0.0.1:8080/a:b@c",
    "authorization: required",
    "Bearer authentication is needed",
    "a key: value; no secret",
    "me@example.com",
    "https://h/?page=2&sort=name",
    "exec(git push *) with GITHUB_TOKEN",
    "Authorization: Bearer authentication",
    "authorization: Bearer",
    "x-api-key: missing",
    "x-api-key: <your key>",
    "api_key: must be text, not a number",
    "cookie: something went wrong here",
    "https://h/oauth?code=404",
    "docker://alpine:3.19@sha256:0a1b2c",
    "http://[::1]:8080/a@b",
    "http://localhost:${PORT}/users/me@example.org",
    '{"url":"http://h:80","mail":"me@example.org"}',
    "max_tokens=4096, token=None, password=***",
    "https://events.pagerduty.com/v2/enqueue",
    "https://git.example/hooks/pre-commit-configuration",
    "robot 12:30 to bot2",
]


@pytest.mark.parametrize(("text", "shown"), HIDES)
def test_a_credential_is_hidden(text: str, shown: str) -> None:
    """In addresses, parameters, headers and by its form; once is enough."""
    assert without_credentials(text) == shown
    assert without_credentials(shown) == shown


@pytest.mark.parametrize("text", KEEPS)
def test_other_text_stays(text: str) -> None:
    """Or nobody could tell what is wrong."""
    assert without_credentials(text) == text


@given(st.data())
def test_the_quick_look_misses_none(data: st.DataObject) -> None:
    """A text it lets pass is one in which no pattern finds anything: pieces of texts with credentials, put together."""
    texts = st.sampled_from([text for text, _ in HIDES])
    cuts = [data.draw(texts) for _ in range(3)]
    text = " ".join(cut[data.draw(st.integers(0, len(cut))) :][: data.draw(st.integers(0, 40))] for cut in cuts)
    if _may_have_one(text) is None:
        assert all(pattern.search(text) is None for pattern, _ in _patterns())


@given(st.text("abc:/@?&=.- \"'", max_size=60), st.text("abc:/@?&=.- \"'", max_size=60))
def test_a_password_in_an_address_is_hidden_wherever_it_stands(before: str, after: str) -> None:
    """Whatever is around it."""
    assert "hunter2!" not in without_credentials(f"{before} https://user:hunter2!@host {after}")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("postgres://app:p@ss:word@db/x", [("password", "p@ss:word")]),
        ("redis://:p/ss#word@h:6379", [("password", "p/ss#word")]),
        ("https://0123456789abcdef0123456789abcdef@sentry.example/1", [("token", "0123456789abcdef0123456789abcdef")]),
        ("https://git@github.com/a/b", [("user", "git")]),
        ("http://u:pw@h/?token=abcdefgh1", [("password", "pw"), ("token", "abcdefgh1")]),
        ("AccountName=a;AccountKey=Zm9v==;x=y", [("password", "Zm9v==")]),
        ("x-api-key: abcdef123456", [("token", "abcdef123456")]),
        ("Authorization: Bearer abc", [("token", "abc")]),
        ("//registry.example/:_authToken=abcdefgh", [("token", "abcdefgh")]),
        ("https://hooks.slack.com/services/T0/B0/x?y", [("hook", "T0/B0/x")]),
        ("bot123456:" + "A1" * 16, [("key", "123456:" + "A1" * 16)]),
        ("Bearer authentication", []),
        ("no credentials here", []),
    ],
)
def test_a_credential_is_found_as_it_stands(text: str, found: list[tuple[str, str]]) -> None:
    """That part of the text, without what names it."""
    assert list(credentials_in(text)) == found


@pytest.mark.parametrize(
    "piece", ["://::", "a-", "sk-", "cookie:", "pscale_", "x-a-", "bearer ", "eyJaaaaaaaa.", "?key=", "@://"]
)
def test_it_takes_time_in_proportion_to_the_text(piece: str) -> None:
    """What a server says may be made to take long: four times the text, no more than about ten times the time."""

    def seconds(size: int) -> float:
        text = (piece * size)[:size]
        began = time.process_time()
        without_credentials(text)
        return time.process_time() - began

    small = min(seconds(20_000) for _ in range(3))
    assert min(seconds(80_000) for _ in range(3)) <= 10 * small + 0.05


LENGTH = 100_000
PIECES = [
    "a-", "a.", "://", "://a:b", ":@", "eyJ", "-eyJaaaaaaaa", "[", '"', "%41", r"\u0041", "=", "key", " ", "\n", "sk-",
    "?key=a", "-----BEGIN ",
]  # fmt: skip


@pytest.fixture(scope="module")
def plain() -> float:
    return seconds("plain text ")


def seconds(piece: str) -> float:
    """For what hides credentials, what finds them, and what judges a variable."""
    text = (piece * LENGTH)[:LENGTH]
    began = time.process_time()
    without_credentials(text)
    secret_variables({"PLAIN": text, "SOME_KEY": text})
    return time.process_time() - began


@pytest.mark.slow
@pytest.mark.parametrize("piece", PIECES)
def test_a_long_text_takes_no_longer_than_some_times_a_plain_one(piece: str, plain: float) -> None:
    """A pattern that goes back for each character would take minutes."""
    assert seconds(piece) <= 20 * plain + 1
