"""Text in pieces, without secrets: the pieces together are the masked whole, whatever was cut where."""

import base64
import json
import re
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sightline.conversation import AssistantMessage, CallPart, ToolMessage
from sightline.events import ToolUse
from sightline.secrets import Secrets
from sightline.text import clean_text
from tests.agent.support import kept, lab

VALUES = ("abcabcabd", "cabcab-long-one", "abcabcabd-and-more", "ß-key-0123", "cab-long")
SECRETS = Secrets({f"TOKEN_{number}": value for number, value in enumerate(VALUES)})

KEY = "sk-live-0123"
ONE = Secrets({"A_TOKEN": KEY})

texts = st.lists(
    st.sampled_from((*VALUES, *(value[:cut] for value in VALUES for cut in (1, 3, 4, -1)), "x", "ab", "\n", "日"))
).map("".join)
cuts = st.lists(st.integers(0, 200), max_size=12)


def cut_up(text: str, places: list[int]) -> list[str]:
    ends = sorted({min(place, len(text)) for place in places} | {len(text)})
    return [text[start:end] for start, end in zip([0, *ends], ends, strict=False)]


@given(texts, cuts)
def test_pieces_are_masked_as_the_whole_is(text: str, places: list[int]) -> None:
    """For any cuts: nothing is lost, nothing is told twice, and no value is seen."""
    stream = SECRETS.stream()
    assert "".join([stream.feed(piece) for piece in cut_up(text, places)]) + stream.end() == SECRETS.masked(text)


@given(texts, cuts)
def test_what_waits_is_the_beginning_of_a_value(text: str, places: list[int]) -> None:
    """And nothing else: it is shorter than the longest, and a value, or one in another encoding, begins like it."""
    stream = SECRETS.stream(at_once=6)
    for piece in cut_up(text, places):
        stream.feed(piece)
        assert any(value.startswith(stream.waiting) and value != stream.waiting for value in VALUES)


def in_base64(value: str, before: str = "", *, safe: bool = False, width: int = 0) -> str:
    encode = base64.urlsafe_b64encode if safe else base64.b64encode
    row = encode(f"{before}{value}~tail".encode()).decode()
    return "\n".join(row[at : at + width] for at in range(0, len(row), width)) if width else row


def spellings_of(value: str) -> list[str]:
    """A value as programs write it, alone or within more of the same encoding."""
    data = value.encode()
    return [
        *(in_base64(value, "x" * before, safe=safe) for before in range(3) for safe in (False, True)),
        *(in_base64(value, "x" * before, width=width) for before in range(3) for width in (4, 7, 76)),
        data.hex(), data.hex().upper(), data.hex(":"), data.hex(" "), "".join(f"\\x{byte:02x}" for byte in data),
        quote(value, safe=""), re.sub("%..", lambda match: match[0].lower(), quote(value)), quote_plus(value),
        "".join(f"%{byte:02X}" for byte in data), "".join(f"%{byte:02x}" for byte in data),
        json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1].replace("/", "\\/"),
        "".join(f"\\u{ord(character):04x}" for character in value if ord(character) < 0x10000),
    ]  # fmt: skip


SPECIAL = (
    "sk-Live/+0123 45%ß\\n~?>",
    "AKIA/abcdef+0123456789==",
    'correct horse "battery" staple\n2',
    "n0%41\\u0042-value",
    "\\ends-with-9\\",
)
CODED = Secrets({f"TOKEN_{number}": value for number, value in enumerate(SPECIAL)})


@pytest.mark.parametrize("value", SPECIAL)
def test_a_value_is_masked_in_every_encoding(value: str) -> None:
    """Nothing of it is left that decodes to more than a few of its bytes, and what stands around it stays."""
    name = f"TOKEN_{SPECIAL.index(value)}"
    for spelling in spellings_of(value):
        shown = CODED.masked(f"before {spelling} after")
        assert (shown[:7], shown[-6:]) == ("before ", " after"), spelling
        assert f"[secret {name}" in shown, spelling
        left = re.sub(r"\[secret [^]]*\]", "", shown)
        assert len(left) <= len("before  after") + 20, (spelling, shown)


coded = st.lists(
    st.one_of(
        st.sampled_from([spelling for value in SPECIAL for spelling in (value, *spellings_of(value))]),
        st.sampled_from(
            [spelling[:cut] for value in SPECIAL for spelling in spellings_of(value) for cut in (1, 2, 5, 9, -1)]
        ),
        st.sampled_from(["\\", "%", "%4", "\\u00", "\\ud83d", "n", "u0041", "\n", "\r\n", " ", "+", "73", "c2", "ß"]),
    ),
    max_size=5,
).map("".join)


@settings(max_examples=600)
@given(coded, cuts)
def test_encodings_in_pieces_are_masked_as_the_whole_is(text: str, places: list[int]) -> None:
    """Wherever it is cut: within an escape, within a digit of a byte, at a line end."""
    stream = CODED.stream()
    assert "".join([stream.feed(piece) for piece in cut_up(text, places)]) + stream.end() == CODED.masked(text)


@settings(max_examples=600)
@given(coded, cuts)
def test_what_did_not_wait_is_all_there_is_to_see(text: str, places: list[int]) -> None:
    """With a few characters let out at once: nothing is lost, and before a mask no more than those are seen."""
    stream = CODED.stream(at_once=6)
    shown = "".join([stream.feed(piece) for piece in cut_up(text, places)]) + stream.end()
    whole = CODED.masked(text)
    assert shown.count("[secret ") == whole.count("[secret ")
    assert len(whole) <= len(shown) <= len(whole) + 6 * whole.count("[secret ")


@given(st.text(max_size=80), cuts)
def test_other_text_stays(text: str, places: list[int]) -> None:
    """Whatever it is."""
    stream = CODED.stream()
    assert "".join([stream.feed(piece) for piece in cut_up(text, places)]) + stream.end() == text == CODED.masked(text)


SEQUENCES = (
    "\x1b[m", "\x1b[01;31m", "\x1b[K", "\x1b[2C", "\r", "\b", "\x00", "\x7f", "\u202e", "\u2069", "\x9b1m", "\x1b(B",
    "\x1b]0;title\x07", "\x1b]8;;http://x/\x1b\\", "\x1bP1\x9c",
)  # fmt: skip
OPEN = ("\x1b", "\x1b[", "\x1b[3", "\x9b1;", "\x1b]0;", "\x1b(")


@st.composite
def drawn(draw: st.DrawFn, of: st.SearchStrategy[str]) -> str:
    """A text with sequences for a terminal anywhere in it."""
    pieces = cut_up(draw(of), draw(cuts))
    between = st.lists(st.sampled_from(SEQUENCES), max_size=2).map("".join)
    return "".join(piece + draw(between) for piece in pieces) + draw(st.sampled_from(("", *OPEN)))


@settings(max_examples=600)
@given(drawn(texts), cuts)
def test_drawn_text_in_pieces_is_masked_as_the_whole_is(text: str, places: list[int]) -> None:
    """Wherever it is cut: within a colour code, too."""
    stream = SECRETS.stream()
    assert "".join([stream.feed(piece) for piece in cut_up(text, places)]) + stream.end() == SECRETS.masked(text)


@settings(max_examples=600)
@given(drawn(coded), cuts)
def test_drawn_encodings_in_pieces_are_masked_as_the_whole_is(text: str, places: list[int]) -> None:
    """The same, of every encoding."""
    stream = CODED.stream()
    assert "".join([stream.feed(piece) for piece in cut_up(text, places)]) + stream.end() == CODED.masked(text)


@settings(max_examples=600)
@example("\\\\ends-with-9\\\x1b]0;")  # half an escape ends what is seen
@given(drawn(st.one_of(texts, coded)))
def test_what_is_shown_of_a_text_holds_no_value(text: str) -> None:
    """Whether it is masked before what drives a terminal is removed from it, or after."""
    for secrets in (SECRETS, CODED):
        assert clean_text(secrets.masked(text)) == secrets.masked(clean_text(text))


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_what_is_not_seen_does_not_hide_a_value(sequence: str) -> None:
    """grep colours what it found in the middle of a value."""
    for cut in (1, 8, len(KEY) - 1):
        shown = ONE.masked(f"a {KEY[:cut]}{sequence}{KEY[cut:]} b")
        style = sequence if re.fullmatch(r"\x1b\[[0-9;]*m", sequence) else ""
        assert shown == f"a [secret A_TOKEN]{style} b"


def test_a_value_in_a_title_is_masked() -> None:
    """What is removed from what is shown may be kept elsewhere."""
    assert ONE.masked(f"\x1b]0;{KEY}\x07") == "\x1b]0;[secret A_TOKEN]\x07"


def test_what_waits_is_bounded() -> None:
    """A beginning of a value and then colours without end."""
    stream = ONE.stream()
    stream.feed(KEY[:5])
    for _ in range(200):
        stream.feed("\x1b[31m" * 100)
    assert len(stream.waiting) < 10_000


@pytest.mark.parametrize("indent", [" ", "    ", "\t", " " * 40])
@pytest.mark.parametrize("width", [5, 20, 76])
def test_indented_base64_is_masked(indent: str, width: int) -> None:
    """A block of YAML; whole and in pieces."""
    value = SPECIAL[0]
    rows = in_base64(value, "xy" * 40, width=width).split("\n")
    text = "data: |\n" + "".join(f"{indent}{row}\n" for row in rows)
    assert "[secret TOKEN_0 in base64]" in CODED.masked(text)
    stream = CODED.stream()
    assert "".join(stream.feed(character) for character in text) + stream.end() == CODED.masked(text)


def test_a_key_with_carriage_returns_is_known_without_them() -> None:
    """What is shown has none."""
    lines = ("-----BEGIN KEY-----", "MIIEvQIBADAN", "-----END KEY-----")
    assert Secrets({}, {"PEM": "\r\n".join(lines)}).masked("\n".join(lines)) == "[secret PEM]"


def test_parts_of_a_value_are_secret_too() -> None:
    """The password in an address, the token in a header, the lines of a key."""
    lines = ("-----BEGIN PRIVATE KEY-----", "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC", "BKcwggSj", "-----END PRIVATE KEY-----")
    key, address = "\n".join(lines), "postgres://app:hunter2-long@db/app"
    secrets = Secrets({"DATABASE_URL": address, "HEADER": "Bearer abcdef0123456789", "PEM": key})
    assert secrets.masked("psql -W hunter2-long") == "psql -W [secret DATABASE_URL password]"
    assert secrets.masked("x-token: abcdef0123456789") == "x-token: [secret HEADER token]"
    assert secrets.masked("2:MIIEvQIBADANBgkqhkiG9w0BAQEFAASC") == "2:[secret PEM line 2]"
    assert secrets.masked(f"a {key} b") == "a [secret PEM] b"


LINES = (
    "-----BEGIN PRIVATE KEY-----",
    "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC",
    "BKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj",
    "-----END",
)
PEM = r"\n".join(LINES)
GHP = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6"
PARTS = [
    ("DATABASE_URL", "postgres://app:p%40ssw0rd-long@db/x", "p@ssw0rd-long", "password"),
    ("DATABASE_URL", "postgres://app:p@ss-w0rd-long@db/x", "p@ss-w0rd-long", "password"),
    ("REDIS_URL", "redis://:p/ss#word-1@h:6379", "p/ss#word-1", "password"),
    ("STORAGE_CONNECTION_STRING", "AccountName=x;AccountKey=Zm9vYmFyYmF6cXV4==;y=z", "Zm9vYmFyYmF6cXV4==", "password"),
    ("ODBC", "Driver=x;UID=sa;PWD=hunter2-long1;", "hunter2-long1", "password"),
    ("SENTRY_DSN", "https://0a1b2c3d4e5f@o1.ingest.example/42", "0a1b2c3d4e5f", "user"),
    ("GIT_URL", f"https://{GHP}@github.com/x", GHP, "token"),
    ("GIT_URL", f"https://{GHP}:x-oauth-basic@github.com/x", GHP, "token"),
    ("HOOK", "https://x.example/?token=abcdefgh12345678", "abcdefgh12345678", "token"),
    ("NPMRC", "//registry.example/:_authToken=abcdefghijkl12", "abcdefghijkl12", "token"),
    ("HDR", "X-Api-Key: abcdef123456", "abcdef123456", "token"),
    ("TELE", "bot123456:" + "A1" * 16, "123456:" + "A1" * 16, "key"),
    ("SLACK_URL", "https://hooks.slack.com/services/T0/B0/abcdefgh1234", "T0/B0/abcdefgh1234", "hook"),
    ("SLACK_URL", "https://hooks.slack.com/services/T0/B0/abcdefgh1234", "abcdefgh1234", "hook"),
    ("HDR", "Basic dXNlcjpodW50ZXIyLWxvbmc=", "hunter2-long", "password"),
    ("COMPOSER_AUTH", json.dumps({"github-oauth": {"github.com": GHP}}), GHP, "github.com"),
    ("COMPOSER_AUTH", '{"gitlab-token": {"gitlab.com": "abcdefgh-1"}}', "abcdefgh-1", "gitlab-token"),
    ("COMPOSER_AUTH", '{"http-basic": {"h": {"username": "me", "password": "hunter2-a"}}}', "hunter2-a", "password"),
    ("DOCKER_AUTH_CONFIG", '{"auths":{"h":{"auth":"dXNlcjpodW50ZXIyLWxvbmc="}}}', "hunter2-long", "auth password"),
    ("GOOGLE_CREDENTIALS", f'{{"private_key":"{PEM}"}}', "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC", "private_key line 2"),
    ("SIGNING_KEY", PEM, "BKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj", "line 3"),
    ("APP_SECRETS", "REGION=eu-central-1\nexport DB_PASSWORD='hunter2-long'", "hunter2-long", "DB_PASSWORD"),
]


@pytest.mark.parametrize(("name", "value", "part", "label"), PARTS)
def test_a_part_that_is_shown_alone_is_masked(name: str, value: str, part: str, label: str) -> None:
    """It names the part; the whole is masked as before."""
    secrets = Secrets({name: value})
    assert secrets.masked(f"x {part} y") == f"x [secret {name} {label}] y"
    assert secrets.masked(f"x {value.strip()} y") == f"x [secret {name}] y"


def test_ordinary_words_of_a_secret_are_not_masked() -> None:
    """Hosts, users, names of fields, regions: they stand in every other line."""
    secrets = Secrets(
        {
            "DATABASE_URL": "postgres://deploy-user1:postgres@db-1.example.org:5432/app_production",
            "GOOGLE_CREDENTIALS": f'{{"type":"service_account","project_id":"my-project-1","private_key":"{PEM}",'
            '"client_email":"me@my-project-1.example","auth_uri":"https://accounts.google.com/o/oauth2/auth"}',
            "STORAGE_CONNECTION_STRING": "AccountName=store-1;AccountKey=Zm9vYmFyYmF6cXV4==;Endpoint=core.example",
            "GIT_URL": "https://first-name.last-name2:hunter2-long@git.example.org/x",
            "HOOK": "https://x.example/?key=category&token=abcdefgh12345678",
            "APP_SECRETS": "REGION: eu-central-1-and-more\nPASSWORD: hunter2-long",
        }
    )
    for text in (
        "deploy-user1 postgres db-1.example.org:5432 app_production",
        "service_account my-project-1 me@my-project-1.example https://accounts.google.com/o/oauth2/auth",
        "store-1 core.example",
        "first-name.last-name2 git.example.org",
        "https://x.example category",
        "REGION: eu-central-1-and-more",
    ):
        assert secrets.masked(text) == text


def test_a_file_is_not_masked_by_its_name() -> None:
    """Nor is a public key, a fingerprint, a tag."""
    environ = {
        "SSH_KEY": "/home/me/.ssh/id_ed25519",
        "PGSSLKEY": "/home/me/.pg/key.pem",
        "PUBLIC_KEY": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ me@x",
        "GPG_KEY": "A035C8C19219BA821ECEA86B64E628F8D684696D",
        "IMAGE_TAG": "v2024.11.17-a1B2c3D-Rel4",
    }
    assert Secrets(environ).is_empty


def test_what_is_no_secret_is_not_masked() -> None:
    """A region, a profile, the name of a file: they stand in every other line."""
    environ = {"AWS_REGION": "eu-central-1", "AWS_PROFILE": "development-2", "SSH_AUTH_SOCK": "/tmp/ssh-1/agent.2"}
    assert Secrets(environ).is_empty


beginnings = "|".join(re.escape(KEY[:cut]) for cut in range(len(KEY), 0, -1))
begun = re.compile(f"(?:{beginnings})(?=\\[secret A_TOKEN\\])")
told_apart = st.lists(st.sampled_from((KEY, *(f"{KEY[:cut]}." for cut in range(len(KEY))), "日\n"))).map("".join)


@given(told_apart, cuts, st.sampled_from((None, 3)))
def test_what_is_let_out_was_all_there_is_to_see_of_a_value(text: str, places: list[int], at_most: int | None) -> None:
    """After each piece what waits is let out: then a beginning may stand before a mask, and nothing else differs."""
    stream, told = ONE.stream(), ""
    for piece in cut_up(text, places):
        told += stream.feed(piece)
        told += stream.flush(at_most)
        if at_most is None:
            assert not stream.waiting
    told += stream.end()
    assert begun.sub("", told) == ONE.masked(text)
    assert at_most is None or all(len(seen) <= at_most for seen in begun.findall(told))


async def test_a_secret_as_the_name_of_a_tool_is_in_no_file(tmp_path: Path) -> None:
    """Nor shown: a model may use any text as a name. The events, the conversation and the catalogue have the mask."""
    async with lab(tmp_path, [[{"tool": KEY, "args": {}}], [{"text": "ok"}]], environ={"A_TOKEN": KEY}) as here:
        await here.run()
        assert KEY not in repr(here.seen)
        assert KEY not in repr(here.messages)
        assert [event.name for event in here.of(ToolUse)] == ["[secret A_TOKEN]"]
        assert "[secret A_TOKEN]" in [each.name for each in here.messages if isinstance(each, ToolMessage)]
        list(here.store.conversations(None))
        stored = [path for path in (tmp_path / "home").rglob("*") if path.is_file()]
        assert [path.name for path in stored if KEY.encode() in path.read_bytes()] == []


def test_a_secret_as_an_id_of_a_call_is_masked() -> None:
    """A server may return any text as one."""
    message = AssistantMessage([CallPart("c1", KEY, native_id=KEY)])
    assert KEY not in repr(ONE.masked_message(message))


async def test_a_long_name_is_stored_as_it_is_shown(tmp_path: Path) -> None:
    """No event is too long for a record because of it."""
    async with lab(tmp_path, [[{"tool": "n" * 600_000, "args": {}}], [{"text": "ok"}]]) as here:
        await here.run()
        (use,) = here.of(ToolUse)
        assert (len(use.name), len(use.native_name)) == (200, 200)
        assert [event for event in kept(tmp_path, here.session.id) if isinstance(event, ToolUse)] == [use]
        answers = [each for each in here.messages if isinstance(each, AssistantMessage)]
        assert [len(call.name) for answer in answers for call in answer.calls] == [200]
