"""What people are told has no credentials in it."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.text import without_credentials

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


@given(st.text("abc:/@?&=.- \"'", max_size=60), st.text("abc:/@?&=.- \"'", max_size=60))
def test_a_password_in_an_address_is_hidden_wherever_it_stands(before: str, after: str) -> None:
    """Whatever is around it."""
    assert "hunter2!" not in without_credentials(f"{before} https://user:hunter2!@host {after}")


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
