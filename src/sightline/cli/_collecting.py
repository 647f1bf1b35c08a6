"""The garbage collector is off while the program starts, and runs seldom after that.

There is no garbage at the start, and a collection takes 5 % of the time.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

# Objects made between two collections; Python's own 700 suits programs that are short of memory.
_BETWEEN_COLLECTIONS = 20_000


@contextmanager
def without_collecting() -> Iterator[None]:
    """Objects made meanwhile are never examined."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.set_threshold(_BETWEEN_COLLECTIONS, 20, 20)
        gc.enable()
