"""Where the traceback of a bug goes: to the debug log, if there is one, and never to the screen."""


def log_bug(what: str, error: BaseException) -> None:
    import logging

    log = logging.getLogger("sightline")
    if not log.handlers:
        log.addHandler(logging.NullHandler())  # without one, logging would write it to stderr
    log.error(what, exc_info=error)
