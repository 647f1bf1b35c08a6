"""The command line: parsing arguments and nothing else. What a command needs is imported when it runs."""

import sys


def main() -> int:
    """Entry point of the `sightline` command."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        # Before anything else is imported: scripts and editors ask this all the time.
        from sightline import __version__

        sys.stdout.write(f"sightline {__version__}\n")
        return 0
    try:
        if sys.argv[1:] == ["gallery"]:
            # Painted before the parser is imported.
            code = _opened_gallery()
            if code is not None:
                return code
        from sightline.cli._main import run

        return run(sys.argv[1:])
    except KeyboardInterrupt:
        return 130


def _opened_gallery() -> int | None:
    try:
        from sightline.views.console import open_gallery

        return open_gallery()
    except Exception as error:
        from sightline.cli._main import ended_with

        return ended_with(error)
