"""What a call prints reaches nobody with a secret in it, wherever the pieces of it are cut; and all of it arrives."""

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.events import ToolOutput, ToolResult
from sightline.host.session._call_command import masked_tail
from sightline.host.session._commands import Cell, Shell
from sightline.journal import Artifact, ArtifactReader
from sightline.secrets import MaskedOutput, Secrets, _masked_output
from sightline.text import clean_output
from tests.agent.support import kept, lab
from tests.host.support import until

KEY = "sk-live-0123456789abcdef"
MASK = "[secret MY_API_KEY]"
SECRETS = Secrets({"MY_API_KEY": KEY})


class Printed:
    """A call that prints pieces, and what is told of it."""

    def __init__(self, folder: Path) -> None:
        self.told: list[ToolOutput] = []
        self._path = folder / "call.out"
        self._artifact = Artifact(self._path)
        self._output = MaskedOutput(SECRETS, lambda: ArtifactReader(self._path), self.told.append)

    def prints(self, text: str | bytes, stream: str = "stdout", dropped: int = 0) -> None:
        data = text if isinstance(text, bytes) else text.encode()
        self._artifact.write("stdout", b"." * dropped)
        offset = self._artifact.size
        self._artifact.write(stream, data)
        content = clean_output(data.decode("utf-8", "replace"))
        self._output.publish(ToolOutput("call", content, stream, offset, dropped, len(data)))  # type: ignore[arg-type]

    def ends(self) -> None:
        self._output.end()
        self._artifact.close()

    @property
    def text(self) -> str:
        return "".join(event.content for event in self.told)

    def is_in_order(self) -> bool:
        """Pieces, and what was dropped between them, are the bytes of the artifact, each once; and what is kept
        without its content is read back as it was told."""
        reader, at = ArtifactReader(self._path), 0
        for event in self.told:
            at += event.dropped
            if event.offset != at:
                return False
            at += event.size
            raw = reader.read(event.offset, event.size).decode("utf-8", "replace")
            if "[secret " not in event.content and clean_output(raw) != event.content:
                return False
        size = reader.size
        reader.close()
        return at == size


@pytest.fixture
async def printed(tmp_path: Path) -> Printed:
    return Printed(tmp_path)


async def test_a_secret_cut_by_a_pause_is_masked(printed: Printed) -> None:
    """What may be its beginning is told when it is known that it is not, and the rest at once."""
    printed.prints(f"key={KEY[:10]}")
    assert printed.text == "key="
    printed.prints(f"{KEY[10:]} end\nsk-live-")
    assert printed.text == f"key={MASK} end\n"
    printed.prints("not\n")
    printed.ends()
    assert printed.text == f"key={MASK} end\nsk-live-not\n"
    assert printed.is_in_order()


async def test_a_few_characters_wait_for_a_moment_only(printed: Printed, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line that waits for an answer is whole on the screen; if it was the secret, the rest of it is masked."""
    monkeypatch.setattr(_masked_output, "_A_MOMENT", 0.01)
    printed.prints("how many s")
    assert printed.text == "how many "
    await until(lambda: printed.text == "how many s")
    printed.prints(f"{KEY[1:]}\n")
    printed.ends()
    assert printed.text == f"how many s{MASK}\n"
    assert printed.is_in_order()


async def test_more_of_a_secret_waits_until_the_output_goes_on_or_ends(
    printed: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long that takes; then nothing of it is lost."""
    monkeypatch.setattr(_masked_output, "_A_MOMENT", 0.001)
    printed.prints("see sk-live-")
    moments: list[bool] = []
    asyncio.get_running_loop().call_later(0.05, moments.append, True)
    await until(lambda: moments)
    assert printed.text == "see "
    printed.ends()
    assert printed.text == "see sk-live-"
    assert printed.is_in_order()


async def test_the_other_stream_does_not_wait(printed: Printed) -> None:
    """Pieces stay in order: what waited is told first, and the rest of the secret is masked all the same."""
    printed.prints(KEY[:12])
    printed.prints("a warning\n", "stderr")
    printed.prints(f"{KEY[12:]}\n")
    printed.ends()
    assert [event.content for event in printed.told] == [KEY[:12], "a warning\n", f"{MASK}\n"]
    assert printed.is_in_order()


async def test_what_was_passed_over_ends_what_waited(printed: Printed) -> None:
    """Nothing goes on after a gap."""
    printed.prints("sk-li")
    printed.prints("ve\n", dropped=5)
    printed.ends()
    assert printed.text == "sk-live\n"
    assert printed.is_in_order()


@pytest.mark.parametrize("within", ["\x01", "\x1b]0;title\x07", "\x9b31m", "\x1b[?25l", "\x1b[01;31m\x1b[K"])
async def test_what_is_removed_from_within_a_beginning_lets_none_of_it_out(printed: Printed, within: str) -> None:
    """A control character in the middle, then a pause, then the rest."""
    printed.prints(f"key={KEY[:5]}{within}{KEY[5:20]}{within}")
    assert printed.text == "key="
    printed.prints(f"{KEY[20:]} end\n")
    printed.ends()
    assert MASK in printed.text
    assert KEY[:4] not in printed.text
    assert printed.is_in_order()


async def test_bytes_that_are_not_there_are_not_waited_for(printed: Printed, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it cannot be said which bytes the text is there is no place to cut at; nothing is garbled."""
    monkeypatch.setattr(ArtifactReader, "read", lambda reader, offset, size: b"")
    printed.prints("sk-live\x1b]0;title\x07")
    assert printed.text == "sk-live"
    monkeypatch.undo()
    printed.prints(f"{KEY[7:]}\n")
    printed.ends()
    assert printed.text == f"sk-live{MASK}\n"
    assert printed.is_in_order()


_parts = st.sampled_from((KEY, KEY[:1], KEY[:9], KEY[9:], "日本", "a\n", "\x1b[0;31mred\x1b[m", "\x1b]0;t\x07", "\r"))


@given(st.lists(st.tuples(_parts, st.sampled_from(("stdout", "stderr")), st.sampled_from((0, 0, 0, 3))), max_size=12))
def test_whatever_is_printed_is_told_in_order_and_once(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[tuple[str, str, int]]
) -> None:
    """Nothing is lost or told twice, and in a stream no secret is seen whole but for two ends with a gap between."""

    async def run() -> None:
        printed = Printed(tmp_path_factory.mktemp("call"))
        for text, stream, dropped in pieces:
            printed.prints(text, stream, dropped)
        printed.ends()
        assert printed.is_in_order()
        for stream in ("stdout", "stderr"):
            seen = "".join(event.content for event in printed.told if event.stream == stream)
            assert KEY not in seen or any(dropped for _, _, dropped in pieces)

    asyncio.run(run())


@pytest.mark.parametrize("most", range(1, 45))
def test_the_end_of_an_output_does_not_begin_within_a_secret(tmp_path: Path, most: int) -> None:
    """Wherever it is cut: one that stands across that place is masked whole, and nothing else differs."""
    whole = f"日本 {KEY} 日 end"
    artifact = Artifact(tmp_path / "call.out")
    artifact.write("stdout", whole.encode())
    artifact.close()
    text, size = masked_tail(ArtifactReader(tmp_path / "call.out"), most, SECRETS)
    assert size == len(whole.encode())
    raw = whole.encode()[-most:].decode("utf-8", "ignore")
    after = " 日 end"
    across = len(after) < len(raw) < len(KEY + after)
    assert text == (MASK + after if across else SECRETS.masked(raw))


SLOWLY = f"printf 'key={KEY[:11]}'; until [ -e go ]; do sleep 0.01; done; echo {KEY[11:]}"


async def test_a_command_of_the_agents_that_pauses_within_a_secret(tmp_path: Path) -> None:
    """Live and replayed alike, and not in the journal."""
    turns = [[{"tool": "bash", "args": {"command": SLOWLY}}], [{"text": "ok"}]]
    async with lab(tmp_path, turns, environ={"MY_API_KEY": KEY}) as here:
        await here.agent.prompt("go")
        await here.first(ToolOutput, lambda event: event.content == "key=")
        (tmp_path / "work" / "go").touch()
        await here.ended()
        assert "".join(event.content for event in here.of(ToolOutput)) == f"key={MASK}\n"
        session = here.session.id
    assert [event for event in kept(tmp_path, session) if isinstance(event, ToolOutput)] == here.of(ToolOutput)
    journal = (tmp_path / "home" / "sessions" / session / "journal.jsonl").read_text()
    assert KEY[11:] not in journal.replace(SLOWLY, "")


PYTHON = f"""
import os, sys, time
sys.stdout.write("key={KEY[:11]}"); sys.stdout.flush()
while not os.path.exists("go"): time.sleep(0.01)
print("{KEY[11:]}")
"""


@pytest.mark.parametrize("typed", [Shell(SLOWLY), Cell(PYTHON)], ids=["shell", "cell"])
async def test_what_the_person_runs_pauses_within_a_secret(tmp_path: Path, typed: Shell | Cell) -> None:
    """As with the agent's own."""
    async with lab(tmp_path, [], environ={"MY_API_KEY": KEY}) as here:
        await here.session.submit(typed)
        await here.first(ToolOutput, lambda event: event.content == "key=")
        (tmp_path / "work" / "go").touch()
        await here.first(ToolResult)
        assert "".join(event.content for event in here.of(ToolOutput)) == f"key={MASK}\n"
