"""What the tests of commands and jobs share: terminals that are closed, and hosts that are ended, after each test."""

import pytest

from tests.cli.support import InTerminal, stop_hosts


@pytest.fixture
def hosts(own_home):
    """Whatever a test starts has ended after it."""
    yield
    stop_hosts()


@pytest.fixture
def in_terminal(hosts):
    """Runs the program on a terminal of its own."""
    opened = []

    def start(*words, **options):
        opened.append(InTerminal(*words, **options))
        return opened[-1]

    yield start
    for terminal in opened:
        terminal.end()
