"""Draws the pictures of the documentation from the real program's output: `make pictures`."""

import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from rich.text import Text

from tools.pictures_console import console_pictures
from tools.pictures_terminal import FOLDER, SIGHTLINE, record, save


def draw(name: str, title: str, *arguments: str) -> None:
    output = subprocess.run([SIGHTLINE, *arguments], capture_output=True, text=True, check=True).stdout
    save(name, title, Text.from_ansi(output.rstrip("\n")))


BUILD = r"""
printf '\033[1mBuilding\033[0m the parser\n'
for unit in lexer grammar tree printer; do printf '   \033[32mCompiling\033[0m %s\n' $unit; sleep 0.1; done
echo 'warning: unused variable: depth' >&2
for test in empty words nested quotes unicode; do printf 'test %-12s \033[32mok\033[0m\n' $test; done
i=0; while [ $i -lt 62 ]; do
    i=$((i + 1)); bar=$(printf '%*s' $((i * 2 / 5)) '' | tr ' ' '=')
    printf '\r   \033[36mLinking\033[0m [%-40s] %d%%' "$bar" $i; sleep 0.01
done
sleep 30
"""
TESTS = "printf 'collected 3 items\\n'; echo '1 failed, 2 passed' >&2; exit 1"


def photograph(name: str) -> None:
    """The page, in a real browser, while a command runs."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder) / "parser"
        work.mkdir()
        for script, file in ((TESTS, "test.sh"), (BUILD, "build.sh")):
            (work / file).write_text(script)
        environment = {**os.environ, "SIGHTLINE_HOME": f"{folder}/home"}
        # The folder's name is in the picture: a short one, whoever takes it.
        there = ["bwrap", "--dev-bind", "/", "/", "--bind", str(work), "/mnt", "--chdir", "/mnt"]
        for file in ("test.sh", "build.sh"):
            subprocess.run([*there, SIGHTLINE, "exec", "-d", "--", "sh", file], env=environment, check=True)
            time.sleep(1)
        server = subprocess.Popen(
            [SIGHTLINE, "serve", "--port", "0"], env=environment, stdout=subprocess.PIPE, text=True
        )
        try:
            assert server.stdout is not None
            url = server.stdout.readline().strip()
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
                page = browser.new_page(viewport={"width": 1100, "height": 560}, color_scheme="dark")
                page.goto(url)
                page.wait_for_selector("text=62%")
                page.screenshot(path=FOLDER / f"{name}.png")
                browser.close()
        finally:
            server.terminate()
            server.wait()
            subprocess.run([SIGHTLINE, "stop", "--all"], env=environment, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    draw("agent", "sightline demo --fast", "demo", "--fast", "--color", "always")
    draw("demo", "sightline demo providers", "demo", "providers", "--fast", "--color", "always")
    record("gallery", "sightline gallery", [("", "q quit"), ("markdown\r", "### The end"), ("t", "› text")])
    console_pictures()
    photograph("page")
