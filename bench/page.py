"""The page in a real browser: how soon a child's write is seen, and whether a flood makes it stutter."""

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bench.program import SIGHTLINE
from bench.row import Row
from bench.running import FLOOD, RUNS, busy_core, detach, memory
from sightline.testing.browser import chromium

# The moment of the write on the wall clock, which the browser has too, in microseconds.
PRINTS_TIME = "import os, time; time.sleep(0.2); os.write(1, b'%d.' % (time.time_ns() // 1000))"
# The page draws in animation frames; a message sent while it does arrives when the frame has been drawn.
AFTER = """
  window.afterThisFrame = act => {
    const channel = new MessageChannel();
    channel.port1.onmessage = act;
    channel.port2.postMessage(0);
  };
"""
# When a row appears that has the time it was written: how long ago that was, at the frame that shows it.
WATCH = """() => {
  window.seen = [];
  const look = text => {
    for (const found of text.matchAll(/(\\d{16})\\./g)) {
      if (window.seen.some(([written]) => written === found[1])) continue;
      const entry = [found[1], null];
      window.seen.push(entry);
      afterThisFrame(() => {
        entry[1] = performance.timeOrigin + performance.now() - Number(found[1]) / 1000;
      });
    }
  };
  new MutationObserver(records => {
    for (const record of records) {
      if (record.type === 'characterData') look(record.target.data);
      for (const node of record.addedNodes) look(node.textContent);
    }
  }).observe(document.body, {subtree: true, childList: true, characterData: true});
}"""
LONG_TASKS = """() => {
  window.longest = 0;
  new PerformanceObserver(list => {
    for (const entry of list.getEntries()) window.longest = Math.max(window.longest, entry.duration);
  }).observe({type: 'longtask', buffered: false});
}"""
# From the click itself to the frame that shows it: what drives the browser takes its own time before it.
TIME_CANCEL = """() => {
  let clicked = 0;
  document.addEventListener('click', () => { clicked = performance.now(); }, {capture: true, once: true});
  new MutationObserver((_, observer) => {
    if (!clicked || !document.querySelector('main').textContent.includes('cancelled')) return;
    observer.disconnect();
    afterThisFrame(() => { window.cancelled = performance.now() - clicked; });
  }).observe(document.body, {subtree: true, childList: true, characterData: true});
}"""
# Each line far from the one before, so that none is in the page's memory.
GO_TO_LINES = """async () => {
  const block = document.querySelector('.block').block ?? document.querySelector('article').block;
  let slowest = 0;
  for (let step = 1; step <= 50; step++) {
    const line = step * 370919 % 1000000, name = (line + 1).toLocaleString('en');
    const begun = performance.now();
    block.rows.goTo(line, {centre: false});
    while (document.querySelector(`.row[data-n="${name}"]:not(.waiting)`)?.textContent !== String(line + 1)) {
      await new Promise(requestAnimationFrame);
    }
    await new Promise(afterThisFrame);
    slowest = Math.max(slowest, performance.now() - begun);
  }
  return slowest;
}"""


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        os.environ["SIGHTLINE_HOME"] = home
        with _served() as url, _browser() as browser:
            with busy_core():
                yield Row("page, write to frame, p99 of 200 first outputs", 50.0, _latency(browser, url), " ms")
            yield Row("page, any of a million lines, slowest of 50", 200.0, _any_line(browser, url), " ms")
            yield from _flood(browser, url)
        subprocess.run([SIGHTLINE, "stop", "--all"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@contextmanager
def _served() -> Iterator[str]:
    server = subprocess.Popen([SIGHTLINE, "serve", "--port", "0"], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        url = re.search(r"http://\S+", server.stdout.readline())
        assert url is not None
        yield url.group()
    finally:
        server.terminate()
        server.wait()


@contextmanager
def _browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


def _latency(browser: Any, url: str) -> float:
    """In sessions of twenty commands. No query goes to the browser meanwhile: that would be measured too."""
    times: list[float] = []
    while len(times) < RUNS:
        session = detach(["sleep", "1000"]).rpartition("-")[0]
        page = browser.new_page()
        page.goto(url)
        page.wait_for_selector("text=sleep 1000")
        page.evaluate(AFTER)
        page.evaluate(WATCH)
        command = [SIGHTLINE, "exec", "-d", "--session", session, "--", sys.executable, "-I", "-c", PRINTS_TIME]
        for _ in range(20):
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            time.sleep(0.5)
        seen = page.evaluate("() => window.seen")
        assert len(seen) == 20, seen
        times += [latency for _, latency in seen]
        page.close()
        subprocess.run([SIGHTLINE, "stop", session], check=True, stdout=subprocess.DEVNULL)
    times.sort()
    return float(times[round(len(times) * 0.99) - 1])


def _any_line(browser: Any, url: str) -> float:
    """Milliseconds from asking for a line to the frame that shows it, for lines all over the output."""
    detach(["seq", "1", "1000000"])
    page = browser.new_page()
    page.goto(url)
    page.wait_for_selector("text=1,000,000 rows")
    page.get_by_role("button", name="Unfold").first.click()
    page.evaluate(AFTER)
    slowest = float(page.evaluate(GO_TO_LINES))
    page.close()
    return slowest


def _flood(browser: Any, url: str) -> Iterator[Row]:
    detach(["sh", "-c", f"while :; do {FLOOD}; done"])
    page = browser.new_page()
    page.goto(url)
    page.evaluate(LONG_TASKS)
    page.get_by_role("button", name="Cancel").first.wait_for()
    page.wait_for_timeout(5000)
    start = time.perf_counter()
    page.keyboard.press("?")
    page.get_by_role("dialog").wait_for()
    key = (time.perf_counter() - start) * 1000
    page.keyboard.press("Escape")
    page.wait_for_timeout(2000)
    page.evaluate(AFTER)
    page.evaluate(TIME_CANCEL)
    page.get_by_role("button", name="Cancel").first.click()
    page.wait_for_function("() => window.cancelled")
    cancel = float(page.evaluate("() => window.cancelled"))
    yield Row("page under a flood, longest task", 100.0, float(page.evaluate("() => window.longest")), " ms")
    yield Row("page under a flood, a key acts", 200.0, key, " ms")
    yield Row("page under a flood, cancel to cancelled on the page", 200.0, cancel, " ms")
    serving = next(int(pid) for pid in os.listdir("/proc") if pid.isdigit() and _is_server(pid))
    yield Row("page under a flood, memory of the server", 80.0, memory(serving), " MB")
    page.close()


def _is_server(pid: str) -> bool:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return b"serve\0--port\0000" in file.read()
    except OSError:
        return False
