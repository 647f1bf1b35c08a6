"""A console's host does not stay for somebody who was gone before it came up."""

import asyncio
import os
from types import SimpleNamespace

import pytest

from sightline.host.process import _console_host


@pytest.mark.parametrize(
    ("leaves", "comes", "stays"),
    [(True, "", False), (True, "and stays", True), (True, "and goes", True), (False, "", True)],
)
async def test_a_host_ends_when_who_asked_for_it_left_and_nobody_came(leaves, comes, stays, monkeypatch):
    """One that was connected to stays as long as any, and one whose answer nobody has read yet is waited for."""
    monkeypatch.setattr(_console_host, "_COMES_WITHIN", 0.05)
    over = asyncio.Event()
    server = SimpleNamespace(connections=0)
    asker, ready = os.pipe()
    try:
        _console_host._stop_when(over, SimpleNamespace(idle=True), server, ready)
        if comes == "and stays":
            server.connections = 1
        if comes == "and goes":
            server.on_change()
        if leaves:
            os.close(asker)
        waited = asyncio.ensure_future(over.wait())
        done, _ = await asyncio.wait([waited], timeout=0.5 if stays else 20)
        assert bool(done) is not stays
        waited.cancel()
    finally:
        if not leaves:  # else the host has closed its end itself
            asyncio.get_running_loop().remove_reader(ready)
            os.close(ready)
            os.close(asker)
