"""Garbage is not looked for while the program is put together, and not often after that.

There is none at the start, and looking takes 5 % of the time it needs.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

# Objects made between two looks; Python's own 700 suits programs that are short of memory.
_BETWEEN_LOOKS = 20_000


@contextmanager
def without_collecting() -> Iterator[None]:
    """What was made meanwhile is never looked at again."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.set_threshold(_BETWEEN_LOOKS, 20, 20)
        gc.enable()
