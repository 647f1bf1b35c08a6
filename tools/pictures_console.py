"""Pictures of the console and the page: the demo while it works, its agents, an approval in both, the tree. The program
is the real one, its model is scripted, and its project is that of the demo."""

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sightline.testing.browser import chromium
from sightline.views.plain.commands.demo import demo_script, make_project, write_script
from tools.pictures_terminal import FOLDER, SIGHTLINE, record

_PROMPT = "The cents on the receipts are wrong. Fix it, and push it for review."
_USAGE = {"input_tokens": 6200, "output_tokens": 180}
_ASKING: list[Any] = [
    [
        {"text": "First the file it is about.\n"},
        {"tool": "read", "args": {"path": "money.py"}},
        {"tool": "read", "args": {"path": "cart.py"}},
    ],
    [
        {"text": "`euros` writes one digit of the cents.\n"},
        {
            "tool": "edit",
            "args": {"input": '¶money.py#{tag:money.py}\nreplace 5..5:\n+    return f"{cents / 100:.2f} EUR"\n'},
        },
    ],
    [
        {"text": "Fixed. The branch is pushed from outside the sandbox, which has no network.\n"},
        {
            "tool": "bash",
            "args": {"command": "git push --set-upstream origin fix-cents", "sandbox": False},
        },
    ],
]
_AGENTS = [("", "Edit build.py"), ("\x1ba", "── Agents"), ("", "worktree: 1 file +1 −1")]
_TALK = (
    ("How does the shop round its prices?", "It does not: prices are whole cents, and `euros` only writes them."),
    ("Show whole euros on the receipt.", "`euros` now leaves the cents out. A receipt of 4.50 says 5 EUR."),
    ("Keep the cents, but write EUR first.", "`euros` now says EUR 4.50, and the test of it agrees."),
)


def console_pictures() -> None:
    """All of them."""
    record("console", "sightline demo", [("", "[ 7/24]")], rows=37, moving=1)
    record("delegation", "sightline demo", [("", "Edit build.py")], rows=44, moving=1)
    record("agents", "sightline demo", _AGENTS, rows=35, moving=len(_AGENTS))
    with _shop(_ASKING) as start:
        steps = [("", "medium"), (f"{_PROMPT}\r", "4. No")]
        record("approval", "sightline", steps, argv=start, rows=36, moving=1)
    with _shop([[{"text": answer}] for _, answer in _TALK]) as start:
        record("tree", "sightline", _branching(), argv=start, rows=19)


def page_picture() -> None:
    """The same approval in a real browser."""
    from playwright.sync_api import sync_playwright

    with _shop(_ASKING) as start, sync_playwright() as playwright:
        *there, _, model = start
        server = subprocess.Popen([*there, "serve", "--port", "0"], stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout is not None
            url = server.stdout.readline().strip()
            browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1100, "height": 760}, color_scheme="dark")
            page.goto(url)
            page.get_by_label("Folder").fill("/srv/shop")
            page.get_by_label("Model").fill(model)
            page.get_by_role("textbox", name="First prompt").fill(_PROMPT)
            page.keyboard.press("Enter")
            page.get_by_role("button", name="Yes, this once", disabled=False).wait_for()
            page.screenshot(path=FOLDER / "page.png")
            browser.close()
        finally:
            server.terminate()
            server.wait()


def _branching() -> list[tuple[str, str]]:
    """Two prompts, one of them rewritten, a label on the better one, and the tree open."""
    (first, one), (second, two), (third, three) = [(prompt, answer[-16:]) for prompt, answer in _TALK]
    return [
        ("", "medium"),
        (f"{first}\r", one),
        (f"{second}\r", two),
        ("/tree\r", "go there"),
        ("\x1b[A", "› • user"),
        ("\r", second),
        (f"\x15{third}\r", three),
        ("/tree\r", "go there"),
        ("L", "label"),
        ("EUR first\r", "[EUR first]"),
    ]


@contextmanager
def _shop(turns: list[Any]) -> Iterator[list[str]]:
    """How to start the console in a project of a short name, on any machine; its sessions end with it."""
    script = {"files": demo_script()["files"], "turns": turns}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        make_project(folder / "shop", script["files"])
        subprocess.run(["git", "-C", folder / "shop", "branch", "-m", "fix-cents"], check=True)
        write_script(folder, script, paced=False)
        counted = [{"blocks": turn, "usage": _USAGE} for turn in turns]
        (folder / "demo.json").write_text(json.dumps(counted))
        there = ["bwrap", "--die-with-parent", "--dev-bind", "/", "/", "--tmpfs", "/srv", "--bind", str(folder), "/srv"]
        environment = {"SIGHTLINE_HOME": "/srv/home", "PYTHONDONTWRITEBYTECODE": "1"}
        there += [word for pair in environment.items() for word in ("--setenv", *pair)]
        there += ["--chdir", "/srv/shop", SIGHTLINE]
        try:
            yield [*there, "--model", "scripted:/srv/demo.json"]
        finally:
            subprocess.run([*there, "stop", "--all"], check=True, stdout=subprocess.DEVNULL, env={**os.environ})
