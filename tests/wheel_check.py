"""Builds a wheel, installs it alone into an empty environment and uses it: `make wheel-check`."""

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
UV = str(Path(sys.executable).with_name("uv"))


def run(*argv: str) -> str:
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout


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
        demo = run(sightline, "demo", "--fast")
        assert demo.count("── ") == 5, demo
        assert demo.count("● ") >= 15, demo
        assert "sightline" in run(sightline, "completion", "bash")
    print("1 passed, 0 failed")


if __name__ == "__main__":
    main()
