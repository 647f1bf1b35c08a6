"""The registry: names, and whose stream a beginning is."""

import typing

import pytest

from sightline.providers import APPROVALS, Approval, ProviderPrompt, get_provider, provider_names, recognise
from tests.providers.support import CAPTURES, capture_names, load_capture


def test_the_levels_of_approval_are_listed_once():
    """The tuple the command line offers is the type's."""
    assert typing.get_args(Approval) == APPROVALS


@pytest.mark.parametrize("provider", ["claude", "codex", "gemini", "opencode"])
def test_every_recording_is_recognised_by_its_first_line(provider):
    """However a run begins, also one that fails at once."""
    for name in capture_names(provider):
        first = load_capture(provider, name)[0].split(b"\n")[0]
        assert recognise(first + b"\n").name == provider, name


def test_every_body_and_stream_is_recognised():
    """Bodies, streams and error bodies of an OpenAI-compatible server."""
    for path in sorted((CAPTURES / "openai_compatible").glob("*.turn*")):
        assert recognise(path.read_bytes()).name == "openai_compatible", path.name


@pytest.mark.parametrize("provider", ["claude", "codex", "gemini", "opencode"])
def test_a_recording_that_lost_its_beginning_is_still_recognised(provider):
    """Any line of a stream will do, not only the first."""
    for line in load_capture(provider, "interleaved")[0].splitlines():
        assert recognise(line).name == provider, line


def test_warnings_before_a_stream_are_passed_over():
    """npm says what it says; the stream behind it is recognised."""
    data = b"npm warn deprecated something\n\n" + load_capture("codex", "text_only")[0]
    assert recognise(data).name == "codex"


@pytest.mark.parametrize(
    "data", [b"", b"hello\n", b"42\n", b"{}\n", b"[]\n", b"null\n", b'{"type":"other"}\n', b"\xff\xfe"]
)
def test_what_is_nobodys_is_nobodys(data):
    """No guess where nothing fits."""
    assert recognise(data) is None


def test_an_unknown_name_is_a_key_error():
    """The caller says what to do about it."""
    with pytest.raises(KeyError):
        get_provider("nobody")
    assert "nobody" not in provider_names()


@pytest.mark.parametrize("name", [name for name in provider_names() if get_provider(name).channel is not None])
def test_a_channel_is_made_without_starting_anything(name: str) -> None:
    """It is named in the provider's declaration, and imported when it is first used."""
    channel = get_provider(name).channel
    assert channel is not None
    assert channel(ProviderPrompt(prompt="")).answer("no such request", "once") is False
