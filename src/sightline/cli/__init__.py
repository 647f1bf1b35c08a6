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
            # Painted before the parser is there to be imported.
            from sightline.views.console._first_paint import can_paint, open_gallery

            if can_paint():
                return open_gallery()
        from sightline.cli._main import run

        return run(sys.argv[1:])
    except KeyboardInterrupt:
        return 130
