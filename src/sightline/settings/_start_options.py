"""What a session is started with: one struct from the command line, the page or a program to the agent."""

from typing import Any

import msgspec


class StartOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What was requested; the rest is in the settings. An empty field was not requested."""

    cwd: str = ""  # empty: that of the session that is resumed, else where the host is started
    resume: str = ""  # the id of a stored session
    provider: str = ""  # empty: our own agent
    model: str = ""  # empty: that of the session, else of the settings
    thinking: str = ""
    approval: str = ""
    approval_named: bool = True  # for this session; else it came along with the console, and a lower one stays
    allow: list[str] = []
    deny: list[str] = []
    flags: dict[str, str] = {}  # settings by name, as --set has them
    option: dict[str, Any] = {}  # for a provider
    title: str = ""

    @property
    def given(self) -> list[str]:
        """The options that only a host that starts can take, by their names on the command line."""
        options = {
            "--model": self.model,
            "--thinking": self.thinking,
            "--approval": self.approval,
            "--allow": self.allow,
            "--deny": self.deny,
            "--set": self.flags,
            "--option": self.option,
        }
        return [name for name, value in options.items() if value]
