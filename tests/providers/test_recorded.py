"""A recording in the place of a program: what it printed, once, by its own source, and marked as what it is."""

from importlib.resources import files

import pytest
from msgspec.structs import replace

from sightline.events import Event, Notice, RunEnded, RunStarted, encode_event
from sightline.providers import (
    ChannelRun,
    EventStream,
    ProviderPrompt,
    Run,
    get_provider,
    provider_names,
    recorded,
    start_run,
)

RECORDINGS = files("sightline.views.plain") / "recordings"
ASK = ProviderPrompt(prompt="Go.")


def recording_of(name: str) -> bytes:
    return next(item for item in RECORDINGS.iterdir() if item.name.startswith(f"{name}.")).read_bytes()


async def played(run: Run) -> list[Event]:
    return [event async for events in run.events() for event in events]


@pytest.mark.parametrize("name", provider_names())
async def test_its_events_are_those_its_program_would_have_had(name: str) -> None:
    """After a notice that it is a recording, which the model says, too. Nothing else is added, and nothing left out."""
    provider, data = get_provider(name), recording_of(name)
    assert provider.source is not None
    stream = EventStream(provider.source())
    expected = [*stream.feed(data), *stream.end()]
    channel = recorded(provider, data).channel
    assert channel is not None
    run = await channel(ASK).run(ASK)
    notice, *events = await played(run)
    assert isinstance(notice, Notice)
    assert notice.text == f"a recording of {provider.title} is played; the program itself does not run"
    models = [event.model for event in events if isinstance(event, RunStarted)]
    assert all(model.endswith("(recorded)") for model in models)
    unmarked = [replace(event, model="") if isinstance(event, RunStarted) else event for event in (*events, *expected)]
    assert [*map(encode_event, unmarked[: len(events)])] == [*map(encode_event, unmarked[len(events) :])]
    assert (run.outcome.exit_code, run.outcome.error) == (0, None)


async def test_it_is_played_once() -> None:
    """For another prompt of the conversation, and for a conversation that is resumed, it is over."""
    channel = recorded(get_provider("codex"), recording_of("codex")).channel
    assert channel is not None
    here = channel(ASK)
    await played(await here.run(ASK))
    for again, ask in ((here, ASK), (channel(ASK), replace(ASK, resume="T1"))):
        run = await again.run(ask)
        assert [type(event).__name__ for event in await played(run)] == ["Error", "RunEnded"]
        assert run.outcome.error is not None
        assert run.outcome.error.text == "the recording of Codex is over"


async def test_one_without_its_end_has_failed() -> None:
    data = recording_of("codex")
    channel = recorded(get_provider("codex"), data[: data.index(b'{"type":"turn.completed"')]).channel
    assert channel is not None
    run = await channel(ASK).run(ASK)
    *_, error, ended = await played(run)
    assert error == replace(error, text="the recording of Codex has no end")
    assert isinstance(ended, RunEnded)
    assert (ended.is_error, run.outcome.exit_code) == (True, 1)


async def test_it_ends_at_once_when_it_is_cancelled() -> None:
    channel = recorded(get_provider("codex"), recording_of("codex"), delay=3600).channel
    assert channel is not None
    here = channel(ASK)
    run = await here.run(ASK)
    assert isinstance(run, ChannelRun)
    await run.cancel()
    assert isinstance((await played(run))[-1], RunEnded)
    assert run.outcome.cancelled
    await here.close()


def test_it_cannot_be_run_in_another_way() -> None:
    """Not as the program: there is no command line."""
    with pytest.raises(ValueError, match="can be viewed but not run"):
        start_run(recorded(get_provider("codex"), b""), ASK)
