"""Everything this program raises on purpose.

    SightlineError
    ├── UserMistake      a request that cannot be fulfilled: one line, a hint, exit code 2
    └── OutsideFailure   a file, process or server did not do what it should: what, where, what to try; exit code 1

Anything else that escapes is a bug: one line on screen, the traceback in the debug log. Cancellation is not an error;
it is asyncio's own CancelledError or KeyboardInterrupt and ends with exit code 130.
"""


class SightlineError(Exception):
    """Has a message for a person and, where something can be done about it, a hint."""

    exit_code = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UserMistake(SightlineError):
    exit_code = 2


class OutsideFailure(SightlineError):
    exit_code = 1
