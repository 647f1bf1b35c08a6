"""Builds a wheel, installs it alone into an empty environment and uses it: `make wheel-check`."""

import os
import re
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request
from pathlib import Path

ROOT = Path(__file__).parent.parent
UV = str(Path(sys.executable).with_name("uv"))


def run(*argv: str) -> str:
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout


def assert_page(sightline: str) -> None:
    """The page and all it loads are in the wheel."""
    server = subprocess.Popen([sightline, "serve", "--port", "0"], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        page = opener.open(url).read().decode()
        parts = re.findall(r'(?:src|href)="(/?static/[^"]+)"', page)
        assert len(parts) >= 2, page
        for part in parts:
            assert opener.open(urllib.parse.urljoin(url, part)).read(), part
    finally:
        server.terminate()
        server.wait()


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder))
        wheel = next(folder.glob("*.whl"))
        run(UV, "venv", "-q", "--python", sys.executable, str(folder / "env"))
        python, sightline = str(folder / "env/bin/python"), str(folder / "env/bin/sightline")
        run(
            UV, "pip", "install", "-q", "--python", python, "--require-hashes", "-r", str(ROOT / "requirements/run.txt")
        )
        run(UV, "pip", "install", "-q", "--python", python, "--no-deps", str(wheel))
        assert run(sightline, "--version").startswith("sightline ")
        assert "All four tests pass" in run(sightline, "demo", "--fast")
        demo = run(sightline, "demo", "providers", "--fast")
        assert demo.count("── ") == 5, demo
        assert demo.count("● ") >= 15, demo
        assert "sightline" in run(sightline, "completion", "bash")
        os.environ["SIGHTLINE_HOME"] = str(folder / "home")
        assert run(sightline, "exec", "--", "echo", "hello") == "hello\n"
        assert "echo hello" in run(sightline, "jobs")
        assert_page(sightline)
    print("1 passed, 0 failed")


if __name__ == "__main__":
    main()
