"""Terminals and multiplexers by what they leave in the environment, and what each is known to do.

Pure over the environment. A terminal not listed is `unknown` and gets nothing but what it answers when queried.
"""

from collections.abc import Mapping
from typing import Literal

import msgspec


class Profile(msgspec.Struct, frozen=True):
    """What a terminal is known to do when nothing stands between us and it."""

    name: str
    synchronized_output: bool = False
    images: Literal["kitty", "iterm2", "sixel", "none"] = "none"
    placeholders: bool = False
    hyperlinks: bool = False
    true_colour: bool = False
    notifications: Literal["osc99", "osc9", "osc777", "bell"] = "bell"
    questions: tuple[str, ...] | None = None  # the only queries to send (`_probes`), where others would show as text


def _modern(
    name: str,
    *,
    images: Literal["kitty", "iterm2", "sixel", "none"] = "none",
    placeholders: bool = False,
    notifications: Literal["osc99", "osc9", "osc777", "bell"] = "bell",
) -> Profile:
    return Profile(name, True, images, placeholders, True, True, notifications)


_PROFILES = {
    profile.name: profile
    for profile in (
        _modern("kitty", images="kitty", placeholders=True, notifications="osc99"),
        _modern("ghostty", images="kitty", placeholders=True, notifications="osc9"),
        _modern("wezterm", images="iterm2", notifications="osc9"),
        _modern("iterm2", images="iterm2", notifications="osc9"),
        _modern("foot", images="sixel", notifications="osc777"),
        _modern("contour", images="sixel"),
        _modern("alacritty"),
        _modern("windows_terminal"),
        _modern("rio", images="iterm2"),
        _modern("warp", notifications="osc777"),
        _modern("vscode"),
        Profile("konsole", hyperlinks=True, true_colour=True),
        Profile("vte", hyperlinks=True, true_colour=True),
        Profile("rxvt", notifications="osc777"),
        Profile("xterm"),
        Profile("apple_terminal", questions=("background",)),
        Profile("linux", questions=()),
        Profile("unknown"),
    )
}

# In this order: a variable only its own terminal sets, before names that are inherited and imitated.
_BY_VARIABLE = (
    ("KITTY_WINDOW_ID", "kitty"),
    ("GHOSTTY_RESOURCES_DIR", "ghostty"),
    ("WEZTERM_PANE", "wezterm"),
    ("ITERM_SESSION_ID", "iterm2"),
    ("WT_SESSION", "windows_terminal"),
    ("ALACRITTY_WINDOW_ID", "alacritty"),
    ("KONSOLE_VERSION", "konsole"),
    ("VTE_VERSION", "vte"),
)
_OWN_NAMES = ("wezterm", "alacritty", "foot", "contour", "rio")
_BY_PROGRAM = {
    **{name: name for name in (*_OWN_NAMES, "kitty", "ghostty", "vscode", "apple_terminal")},
    "iterm.app": "iterm2",
    "warpterminal": "warp",
}
_BY_TERM = {
    "xterm-kitty": "kitty",
    "xterm-ghostty": "ghostty",
    **{name: name for name in (*_OWN_NAMES, "rxvt", "linux")},
}


def profile_of(environment: Mapping[str, str]) -> Profile:
    """The terminal that started us, as far as the environment shows it."""
    program = _BY_PROGRAM.get(environment.get("TERM_PROGRAM", "").lower())
    if program is not None:
        return _PROFILES[program]
    term = environment.get("TERM", "")
    for prefix, name in _BY_TERM.items():
        if term.startswith(prefix):
            return _PROFILES[name]
    for variable, name in _BY_VARIABLE:
        if environment.get(variable):
            return _PROFILES[name]
    return _PROFILES["xterm" if environment.get("XTERM_VERSION") else "unknown"]


def profile_named(name: str) -> Profile:
    return _PROFILES[name]


def multiplexer_of(environment: Mapping[str, str]) -> str:
    """tmux, screen or zellij when one of them stands between us and the terminal; else nothing."""
    term = environment.get("TERM", "")
    if environment.get("TMUX") or term.startswith("tmux") or environment.get("TERM_PROGRAM") == "tmux":
        return "tmux"
    if environment.get("ZELLIJ") is not None:
        return "zellij"
    if environment.get("STY") or term.startswith("screen"):
        return "screen"
    return ""
