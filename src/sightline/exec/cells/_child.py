"""The process behind Python cells: it runs what it is sent, one cell after the other, in one namespace.

    python -u _cell_child.py REQUESTS ANSWERS        two descriptors

A request is a JSON line with `code`; the answer, a JSON line with `ended` (ok, error, interrupted, exit) and `code`,
comes after all the cell has written. This file is run by the user's own Python, so it imports nothing of ours.
"""

import ast
import json
import linecache
import os
import signal
import sys
import traceback
import types
from contextlib import suppress
from typing import Any


def main(requests: int, answers: int) -> None:
    for fd in (requests, answers):
        os.set_inheritable(fd, False)  # what a cell starts must not hold these open
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.path[0] = ""
    module = types.ModuleType("__main__")
    module.__dict__["__builtins__"] = __builtins__
    sys.modules["__main__"] = module
    with os.fdopen(requests, "rb") as lines:
        for number, line in enumerate(lines, 1):
            answer = run(json.loads(line)["code"], number, module.__dict__)
            for stream in (sys.stdout, sys.stderr):
                flush(stream)
            os.write(answers, json.dumps(answer).encode() + b"\n")
            if answer["ended"] == "exit":
                return


def run(code: str, number: int, namespace: "dict[str, object]") -> "dict[str, object]":
    """Run one cell; the value of its last line, if it has one, is shown and is `_`."""
    name = f"<cell {number}>"
    linecache.cache[name] = (len(code), None, code.splitlines(True), name)
    try:
        try:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            execute(code, name, namespace)
        finally:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
    except KeyboardInterrupt:
        return {"ended": "interrupted", "code": 130}
    except SystemExit as error:
        left = error.code
        return {"ended": "exit", "code": left if isinstance(left, int) else 0 if left is None else 1}
    except BaseException as error:
        print_error(error, name)
        return {"ended": "error", "code": 1}
    return {"ended": "ok", "code": 0}


def execute(code: str, name: str, namespace: "dict[str, object]") -> None:
    tree = ast.parse(code, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec"), namespace)
    if last is not None:
        exec(compile(ast.Interactive([last]), name, "single"), namespace)


def print_error(error: BaseException, name: str) -> None:
    """Its traceback, from the cell on."""
    shown = error.__traceback__
    while shown is not None and shown.tb_frame.f_code.co_filename != name:
        shown = shown.tb_next
    traceback.print_exception(type(error), error, shown)


def flush(stream: Any) -> None:
    with suppress(Exception):  # a cell may have closed or replaced it
        stream.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
