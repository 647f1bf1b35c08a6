"""Output that is looked at later: without secrets, and with every place where it was."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.journal import Artifact
from sightline.secrets import MaskedArtifact, Secrets
from sightline.text import clean_output

KEY = "Kx7vQ2m/Zp9+Lw4TnB8sRd-3fGh6"
PEM = "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG\n-----END KEY-----"
SECRETS = Secrets(
    {"MY_API_KEY": KEY, "A_RATHER_LONG_NAME_FOR_SUCH_A_TOKEN": "short-0123"}, {"PEM": PEM, "UML": "ßßßß-0123"}
)


def artifact(folder: Path, data: bytes, *, grows: bool = False) -> MaskedArtifact:
    written = Artifact(folder / "job.out")
    written.write("stdout", data)
    written.close()
    return MaskedArtifact(folder / "job.out", SECRETS, lambda: grows)


def shown(data: bytes) -> str:
    return clean_output(data.decode("utf-8", "replace"))


@pytest.mark.parametrize(
    ("written", "seen"),
    [
        (f"a {KEY} b\n", "a [secret MY_API_KEY] b\n"),
        ("a short-0123 b\n", "a [secret] b\n"),
        (f"{PEM}\nend\n", "[secret PEM]\n\n\nend\n"),
        ("\xe4 ßßßß-0123 \xe4\n", "\xe4 [secret UML] \xe4\n"),
        (f"{KEY[:5]}\r{KEY[5:]}", "[secret MY_API_KEY]"),
        (f"{KEY[:5]}\x1b]0;title\x07{KEY[5:]}", "[secret MY_API_KEY]"),
        ("nothing\x00 at all", "nothing at all"),
    ],
)
def test_a_value_is_covered(tmp_path: Path, written: str, seen: str) -> None:
    """By its name where that fits. Sizes, line ends and what stands around it stay."""
    data = written.encode()
    reader = artifact(tmp_path, data)
    assert reader.size == len(data)
    covered = reader.read(0, reader.size)
    assert (shown(covered), len(covered), covered.count(b"\n")) == (seen, len(data), data.count(b"\n"))


def test_styles_stay(tmp_path: Path) -> None:
    """A colour that is set within a value is that of what follows it."""
    reader = artifact(tmp_path, f"{KEY[:8]}\x1b[31m{KEY[8:]} red\x1b[m".encode())
    text = shown(reader.read(0, 1000))
    assert re.sub("\x1b\\[[0-9]*m", "", text) == "[secret MY_API_KEY] red"
    assert "\x1b[31m" in text


pieces = st.lists(
    st.sampled_from([KEY, KEY[:9], PEM, "short-0123", "ßßßß-0123", "x", "\n", "ß", "\x1b[1m", "\r\n", "日", "\x00"]),
    max_size=12,
).map("".join)


@given(pieces, st.integers(0, 200), st.integers(0, 200), st.binary(max_size=2))
def test_a_part_is_the_part_of_the_whole(
    tmp_path_factory: pytest.TempPathFactory, text: str, offset: int, size: int, odd: bytes
) -> None:
    """Wherever it begins and ends, within a value, too."""
    data = odd + text.encode() + odd
    reader = artifact(tmp_path_factory.mktemp("a"), data)
    whole = reader.read(0, len(data))
    assert len(whole) == len(data)
    assert KEY.encode() not in whole
    assert reader.read(offset, size) == whole[offset : offset + size]


def test_a_beginning_is_not_there_while_more_may_come(tmp_path: Path) -> None:
    """Or its first half would be drawn before the second is known. A few characters are."""
    data = f"key={KEY[:20]}".encode()
    reader = artifact(tmp_path, data, grows=True)
    assert reader.size == len("key=")
    assert reader.read(0, 1000) == b"key="
    reader.grows = lambda: False
    assert (reader.size, reader.read(0, 1000)) == (len(data), data)
    assert artifact(tmp_path, f"key={KEY[:3]}".encode(), grows=True).size == len("key=") + 3


def test_the_bytes_as_they_were_written_are_there_too(tmp_path: Path) -> None:
    """For who counts them."""
    reader = artifact(tmp_path, KEY.encode())
    assert reader.read_raw(0, 100) == KEY.encode()
