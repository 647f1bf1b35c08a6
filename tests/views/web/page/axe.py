"""axe-core, the accessibility checker, at a pinned version from npm, kept in the project's cache."""

import os
import shutil
import subprocess
from pathlib import Path

from playwright.async_api import Page

_VERSION = "4.14.0"
_FOLDER = Path(__file__).resolve().parents[4] / ".cache" / "axe"
_RUN_AXE = """async () => {
    const runOnly = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
    const { violations } = await axe.run(document, { runOnly });
    const shown = (node) => `${node.html.slice(0, 160)} ${node.failureSummary.slice(0, 240)}`;
    return violations.map((one) => [one.id, one.impact, one.nodes.slice(0, 4).map(shown)]);
}"""


async def violations(page: Page) -> list[list[object]]:
    """What axe-core has against the page as it is now."""
    await page.evaluate(axe_source())
    found: list[list[object]] = await page.evaluate(_RUN_AXE)
    return found


def axe_source() -> str:
    """The script to run in the page; fetched the first time."""
    script = _FOLDER / _VERSION / "node_modules" / "axe-core" / "axe.min.js"
    if not script.exists():
        _install(script.parents[2])
    return script.read_text()


def _install(folder: Path) -> None:
    # Into a folder of its own first: an interrupted installation must not look like a finished one, and other workers
    # of the same run may install it at the same time.
    partial = folder.with_name(f"{folder.name}.partial-{os.getpid()}")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    (partial / "package.json").write_text('{"private": true}\n')
    npm = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--save-exact"]
    done = subprocess.run([*npm, f"axe-core@{_VERSION}"], cwd=partial, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(
            f"axe-core {_VERSION} could not be installed; node and npm are needed:\n{done.stderr[-2000:]}"
        )
    try:
        partial.rename(folder)
    except OSError:  # another one was quicker
        shutil.rmtree(partial)
