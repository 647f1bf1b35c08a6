"""From arguments to a command, and from whatever it ends with to an exit code."""

import os
import sys
from collections.abc import Sequence

from sightline.exceptions import SightlineError


def run(argv: Sequence[str]) -> int:
    from sightline.cli._parser import build_parser

    arguments = build_parser().parse_args(argv)
    try:
        _start_debug_log(getattr(arguments, "debug_log", None))
        code: int = arguments.command(arguments)
        sys.stdout.flush()
        return code
    except SightlineError as error:
        return _say(error.message, error.hint, error.exit_code)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader left (`| head`). Python would complain once more while closing stdout; give it somewhere to write.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 141
    except OSError as error:
        return _say(f"{error.strerror or error}: {error.filename}" if error.filename else str(error), "", 1)
    except Exception as error:
        return _bug(error)


def _say(message: str, hint: str, code: int) -> int:
    sys.stderr.write(f"error: {message}\n" + (f"hint: {hint}\n" if hint else ""))
    return code


def _bug(error: Exception) -> int:
    import logging

    log = logging.getLogger("sightline")
    log.addHandler(logging.NullHandler())  # without a debug log the traceback is nobody's business
    log.exception("unexpected")
    hint = "run again with --debug-log FILE and report what it holds"
    return _say(f"unexpected {type(error).__name__}: {error} (this is a bug in sightline)", hint, 1)


def _start_debug_log(path: str | None) -> None:
    if not path:
        return
    import logging

    logging.basicConfig(filename=path, level=logging.DEBUG, format="%(asctime)s %(name)s %(levelname)s %(message)s")
    logging.getLogger().setLevel(logging.WARNING)
    logging.getLogger("sightline").setLevel(logging.DEBUG)
