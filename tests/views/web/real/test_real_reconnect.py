"""Reconnect: the page comes back by itself and goes on from where it was, with nothing missing and nothing twice."""

import os
import signal

import pytest

from tests.host.support import alive

from ..conftest import serving
from ..page.glass import expect
from ..test_api_events import host_of
from .conftest import eventually, session_of, waits

pytestmark = pytest.mark.asyncio(loop_scope="session")

_COUNTS = "i=0; until [ -e stop ]; do i=$((i+1)); echo line $i; sleep 0.01; done; exit 3"

# What the connection brings is written down: how much of the entries each message holds.
_TAKE_NOTES = """
    window.heard = [];
    const ask = window.fetch;
    window.fetch = async (url, options) => {
        const response = await ask(url, options);
        if (!String(url).startsWith('/api/page')) return response;
        const after = new URL(url, location.href).searchParams.get('after');
        const [mine, theirs] = response.body.tee();
        (async () => {
            let text = '';
            try {
                for await (const piece of mine.pipeThrough(new TextDecoderStream())) {
                    const events = (text + piece).split('\\n\\n');
                    text = events.pop();
                    for (const event of events.filter((event) => event.includes('event: entries\\n'))) {
                        const { reset, entries } = JSON.parse(event.slice(event.indexOf('data: ') + 6));
                        window.heard.push({ after, reset, ids: entries.map((entry) => entry.id) });
                    }
                }
            } catch { /* the connection was cut, or left */ }
        })();
        return new Response(theirs, { status: response.status, headers: response.headers });
    };
"""

# Walks through the whole output as a person would, one screen at a time, and gives every row it was shown.
_READ_ALL = """async (block) => {
    const { rows, store } = block.block, shown = [], step = Math.floor(rows.visible);
    const drawn = () => [...block.querySelectorAll('.row:not(.waiting)')]
        .map((row) => [Number(row.dataset.n.replaceAll(',', '')), row.textContent]);
    for (let from = 0; from < store.total; from += step) {
        rows.goTo(from, { centre: false });
        const last = Math.min(from + step, store.total);
        let now = [];
        while (now.length < last - from) {
            await new Promise(requestAnimationFrame);
            now = drawn().filter(([number]) => number > from && number <= last);
        }
        shown.push(...now);
    }
    return shown;
}"""


async def test_reconnect_after_network_loss_has_nothing_missing_and_nothing_twice(machine, cable, open_page):
    """Cut twice while a command counts: the page says so, comes back, and rows 1 to N are there, each once."""
    job = await machine.start("sh", "-c", _COUNTS)
    page = await open_page(f"#{session_of(job)}", through=cable)
    block = page.get_by_role("article")
    await expect(block.locator(".row").nth(5)).to_be_visible()
    for _ in range(2):
        await cable.cut()
        await expect(page.get_by_text("Connection lost, trying again…")).to_be_visible()
        printed = len(machine.bytes_of(job))
        await eventually(lambda printed=printed: len(machine.bytes_of(job)) > printed + 500)
        await cable.mend()
        await expect(page.locator("#banner")).to_be_hidden()
    machine.go("stop")
    await expect(block.locator(".state")).to_have_text("failed")
    lines = machine.bytes_of(job).decode().splitlines()
    await expect(block.locator(".facts")).to_contain_text(f"{len(lines):,} rows")
    shown = await block.evaluate(_READ_ALL)
    assert [tuple(row) for row in shown] == list(enumerate(lines, 1))
    assert lines == [f"line {number}" for number in range(1, len(lines) + 1)]
    await expect(page.locator(".block")).to_have_count(1)
    drawn = await block.locator(".row").evaluate_all("rows => rows.map((row) => row.dataset.n)")
    assert len(drawn) == len(set(drawn))


async def test_reconnect_goes_on_from_the_last_seq(machine, cable, open_page):
    """Only what began, changed or ended meanwhile is sent again: not the jobs that had long ended."""
    first = await machine.start("sh", "-c", f"echo one; {waits()}; exit 3")
    session = session_of(first)
    old = [await machine.run("echo", f"old {number}", session=session) for number in range(3)]
    page = await open_page(f"#{session}", through=cable, script=_TAKE_NOTES)
    await expect(page.locator(".block")).to_have_count(4)
    await expect(page.locator(".block").nth(3).locator(".facts")).to_contain_text("1 row")
    await cable.cut()
    await expect(page.locator("#banner")).to_be_visible()
    new = await machine.run("echo", "new", session=session)
    await cable.mend()
    await expect(page.locator(".block")).to_have_count(5)
    await expect(page.locator(".block").nth(4).locator(".row")).to_have_text(["new"])
    machine.go()
    await expect(page.locator(".block").first.locator(".state")).to_have_text("failed")
    heard = await page.evaluate("window.heard")
    assert heard[0]["after"] is None
    assert heard[0]["reset"]
    since = [message for message in heard if message["after"] is not None]
    assert since
    assert not any(message["reset"] for message in since)
    assert {id for message in since for id in message["ids"]} == {first, new}
    assert set(heard[0]["ids"]) == {first, *old}


async def test_reconnect_at_any_point_leads_to_the_same_page(machine):
    """Cut after every one to three messages: the entries, patched by position, are those of a fresh page."""
    script = f"{waits()}; for i in $(seq 1 30); do echo $i; sleep 0.05; done; exit $(($$ % 3))"
    session = session_of(await machine.start("sh", "-c", script))
    for _ in range(5):
        await machine.start("sh", "-c", script, session=session)
    entries: dict[int, dict] = {}
    path, last, resets, cuts = f"/api/page?session={session}", None, 0, 0
    while not (len(entries) == 6 and all(_is_final(entry) for entry in entries.values())):
        cuts += 1
        async with machine.served.stream(path if last is None else f"{path}&after={last}") as said:
            heard = 0
            while heard < 1 + cuts % 3 and not all(_is_final(entry) for entry in entries.values() or [{}]):
                kind, data, number = await anext(said)
                heard += kind != "list"
                last = last if number is None else number
                if kind == "entries":
                    resets += data["reset"]
                    machine.go()
                    entries = ({} if data["reset"] else entries) | {entry["n"]: entry for entry in data["entries"]}
    async with machine.served.stream(path) as said:
        fresh = (await said.until("entries", lambda data: len(data["entries"]) == 6))["entries"]
    assert [entries[number] for number in sorted(entries)] == fresh
    print(f"{cuts} cuts, {resets} of them told everything")


def _is_final(entry):
    return entry.get("state") not in (None, "running") and entry["total"] == 30


async def test_a_server_that_is_restarted_is_a_new_sign_in(machine, open_page):
    """The command goes on without it; a page of the next server shows all of it."""
    job = await machine.start("sh", "-c", f"echo one; {waits()}; echo two; exit 3")
    machine.served.process.terminate()
    machine.served.process.wait()
    with serving(machine.served.home, stop_hosts=False) as again:
        machine.served.base, machine.served.token = again.base, again.token
        page = await open_page(f"#{session_of(job)}")
        await expect(page.locator(".row")).to_have_text(["one"])
        machine.go()
        await expect(page.locator(".row")).to_have_text(["one", "two"])
        await expect(page.locator(".block .state")).to_have_text("failed")
        await page.close()


async def test_a_host_that_is_killed_is_said_and_what_it_kept_is_shown(machine, open_page):
    """Kill -9 while it is watched: the job is lost, its rows stay, its process is gone."""
    job = await machine.start("sh", "-c", "echo $$; echo before; exec sleep 1000")
    page = await open_page(f"#{session_of(job)}")
    block = page.get_by_role("article")
    await expect(block.locator(".row").nth(1)).to_have_text("before")
    pid = int(await block.locator(".row").first.inner_text())
    os.kill(host_of(machine.served, session_of(job)), signal.SIGKILL)
    await expect(block.locator(".state")).to_have_text("lost")
    await expect(block.locator(".note")).to_contain_text("lost: the session ended while this was running")
    await expect(block.locator(".row")).to_have_text([str(pid), "before"])
    await expect(block.get_by_role("button", name="Cancel")).to_be_hidden()
    await expect(page.locator("#sessions").get_by_role("link")).to_contain_text("lost")
    await eventually(lambda: not alive(pid))
