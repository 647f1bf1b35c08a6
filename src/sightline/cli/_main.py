"""From arguments to a command, and from its result or exception to an exit code."""

import errno
import gc
import itertools
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sightline.exceptions import SightlineError, UserMistake

# Objects made between two collections; Python's own 700 suits programs that are short of memory.
_BETWEEN_COLLECTIONS = 20_000


@contextmanager
def without_collecting() -> Iterator[None]:
    """Start the program without the garbage collector, which would find nothing and take 5 % of the time. Objects made
    meanwhile are never examined."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.set_threshold(_BETWEEN_COLLECTIONS, 20, 20)
        gc.enable()


def run(argv: Sequence[str]) -> int:
    _open_missing_descriptors()
    try:
        with without_collecting():
            from sightline.cli import _commands as commands
            from sightline.cli._parser import parse

            _refuse_empty_resume(argv)
            arguments = parse(argv)
        if arguments.prompt is not None and arguments.command is not commands.prompt:
            raise UserMistake("a prompt and a command cannot be combined", "use -p or the command, not both")
        if arguments.prompt is not None and arguments.opening:
            raise UserMistake("there are two prompts", "give one prompt: with -p, or without -p to open the console")
        _start_debug_log(getattr(arguments, "debug_log", None))
        code: int = arguments.command(arguments)
        return code
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        return ended_with(error)


def _refuse_empty_resume(argv: Sequence[str]) -> None:
    """`--resume "$ID"` with a variable that is not set would start a new session."""
    ours = list(argv[: argv.index("--")]) if "--" in argv else list(argv)
    if "--resume=" in ours or any(a == "--resume" and not b.strip() for a, b in itertools.pairwise(ours)):
        raise UserMistake("--resume needs the id of a session", "list them with: sightline sessions")


def ended_with(error: Exception) -> int:
    """Report what went wrong, where the user should know. The exit code."""
    if isinstance(error, SightlineError):
        return _report(error.message, error.hint, error.exit_code)
    if isinstance(error, BrokenPipeError):
        # The reader left (`| head`). Python would complain once more while closing stdout; give it somewhere to write.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 141
    if isinstance(error, OSError):
        what = error.strerror or str(error)
        return _report(f"{what}: {error.filename}" if error.filename else what, "", 1)
    return 130 if _was_interrupted(error) else _bug(error)


def _open_missing_descriptors() -> None:
    """A program started with stdin, stdout or stderr closed would open its files in their place."""
    for fd in range(3):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def _was_interrupted(error: BaseException | None) -> bool:
    """Whether a Ctrl+C is behind it: one that comes while a class is being made is wrapped by the interpreter."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False


def _report(what: str, hint: str, code: int) -> int:
    from sightline.text import message  # it may quote a file's name or a server's words

    os.write(2, message("error", what, hint).encode())
    return code


def _bug(error: Exception) -> int:
    import logging

    log = logging.getLogger("sightline")
    log.addHandler(logging.NullHandler())  # without a debug log the traceback is not shown
    log.exception("unexpected")
    hint = "run it again with --debug-log FILE, and report the bug with that file"
    return _report(f"unexpected {type(error).__name__}: {error} (this is a bug in sightline)", hint, 1)


def _opened_log(path: str) -> int:
    """For the user alone. Never waits: a named pipe without a reader would hold the program for ever."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK
    try:
        return os.open(path, flags, 0o600)
    except OSError as error:
        if error.errno == errno.ENXIO:
            what = f"cannot write the log: no program reads {path}"
            raise UserMistake(what, "name a file, or start a reader first") from None
        raise


def _start_debug_log(path: str | None) -> None:
    if not path:
        return
    import logging
    from typing import TextIO

    from sightline.secrets import Secrets
    from sightline.settings import stored_keys
    from sightline.text import without_credentials

    class Formatter(logging.Formatter):
        """A log is sent to others, and a traceback quotes what was at hand."""

        secrets = Secrets(os.environ, stored_keys())

        def format(self, record: logging.LogRecord) -> str:
            return without_credentials(self.secrets.masked(super().format(record)))

    class Handler(logging.StreamHandler[TextIO]):
        """What cannot be written is lost: a log must neither end nor hold up what it is about."""

        def handleError(self, record: logging.LogRecord) -> None:
            pass

    handler = Handler(os.fdopen(_opened_log(path), "a", encoding="utf-8", errors="backslashreplace"))
    handler.setFormatter(Formatter("%(asctime)s %(name)s %(levelname)s %(message)s"))
    logging.basicConfig(level=logging.DEBUG, handlers=[handler])
    logging.getLogger().setLevel(logging.WARNING)
    logging.getLogger("sightline").setLevel(logging.DEBUG)
