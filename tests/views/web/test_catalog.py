"""Noticing that sessions change."""

import asyncio
from pathlib import Path

from sightline.journal import Store
from sightline.views.web.page._catalog import Catalog


async def test_one_that_ended_and_was_resumed_between_two_looks_is_noticed(tmp_path: Path) -> None:
    """It ran at both looks, so the list is the same; who shows it as ended is called all the same."""
    store = Store(tmp_path / "data")
    running = store.create()
    catalog = Catalog(store, [])
    is_over, called = False, asyncio.Event()
    catalog.listen(called.set, running.folder.name, lambda: is_over)
    await asyncio.wait_for(called.wait(), 60)  # the first list
    called.clear()
    is_over = True
    await asyncio.wait_for(called.wait(), 60)
    catalog.leave(called.set)
    running.close()
