"""What the terminal can do, from the environment and from its answers: both pure."""

import pytest

from sightline.tty.terminal._capabilities import Capabilities, ProbeAnswers, detect
from sightline.tty.terminal._notices import notification

KITTY = {"TERM": "xterm-kitty", "KITTY_WINDOW_ID": "1", "COLORTERM": "truecolor"}
GHOSTTY = {"TERM": "xterm-ghostty", "TERM_PROGRAM": "ghostty"}
IN_TMUX = {**KITTY, "TERM": "tmux-256color", "TMUX": "/socket,1,0", "TERM_PROGRAM": "tmux"}


@pytest.mark.parametrize(
    ("environment", "terminal", "multiplexer"),
    [
        (KITTY, "kitty", ""),
        (GHOSTTY, "ghostty", ""),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"}, "iterm2", ""),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"}, "wezterm", ""),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "vscode", "VTE_VERSION": "7000"}, "vscode", ""),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "Apple_Terminal"}, "apple_terminal", ""),
        ({"TERM": "xterm-256color", "WT_SESSION": "x"}, "windows_terminal", ""),
        ({"TERM": "xterm-256color", "VTE_VERSION": "7000"}, "vte", ""),
        ({"TERM": "xterm-256color", "XTERM_VERSION": "XTerm(390)"}, "xterm", ""),
        ({"TERM": "rxvt-unicode-256color"}, "rxvt", ""),
        ({"TERM": "foot"}, "foot", ""),
        ({"TERM": "linux"}, "linux", ""),
        ({"TERM": "xterm-256color"}, "unknown", ""),
        ({}, "unknown", ""),
        (IN_TMUX, "kitty", "tmux"),
        ({"TERM": "tmux-256color"}, "unknown", "tmux"),
        ({"TERM": "screen", "STY": "1.pts"}, "unknown", "screen"),
        ({"TERM": "screen.xterm-256color"}, "unknown", "screen"),
        ({"TERM": "xterm-256color", "ZELLIJ": "0"}, "unknown", "zellij"),
    ],
)
def test_s4_terminal_and_multiplexer_are_told_from_the_environment(environment, terminal, multiplexer):
    """§4: pure over the environment."""
    found = detect(environment)
    assert (found.terminal, found.multiplexer) == (terminal, multiplexer)


@pytest.mark.parametrize(
    ("environment", "on"),
    [
        ({**KITTY, "SIGHTLINE_NO_SYNC_OUTPUT": "1", "SIGHTLINE_FORCE_SYNC_OUTPUT": "1"}, False),
        ({**KITTY, "SIGHTLINE_SYNC_OUTPUT": "0"}, False),
        ({"TERM": "xterm", "SIGHTLINE_FORCE_SYNC_OUTPUT": "1"}, True),
        ({**IN_TMUX, "SIGHTLINE_SYNC_OUTPUT": "1"}, True),
        ({**IN_TMUX, "TERM_FEATURES": "T3CwLrMSc7UUw9Ts3BFGsSyHNoSxF"}, True),
        ({"TERM": "xterm", "TERM_FEATURES": "T3SxyzSc7"}, False),
        ({"TERM": "xterm-256color", "WT_SESSION": "x"}, True),
        (KITTY, True),
        (GHOSTTY, True),
        (IN_TMUX, False),
        ({**KITTY, "TERM": "screen-256color", "STY": "1.pts"}, False),
        ({"TERM": "xterm-256color"}, False),
        ({**KITTY, "SIGHTLINE_NO_SYNC_OUTPUT": "0"}, True),
    ],
)
def test_s4_synchronized_output_by_precedence(environment, on):
    """§4: opt-out, force-on, TERM_FEATURES Sy, WT_SESSION, known direct terminals; off in multiplexers and unknowns."""
    assert detect(environment).synchronized_output is on


@pytest.mark.parametrize(
    ("environment", "report", "on"),
    [
        ({"TERM": "xterm-256color"}, 2, True),
        ({"TERM": "xterm-256color"}, 1, True),
        (IN_TMUX, 2, True),
        (KITTY, 0, False),
        (KITTY, 4, False),
        ({**KITTY, "SIGHTLINE_NO_SYNC_OUTPUT": "1"}, 2, False),
        ({"TERM": "xterm-256color", "SIGHTLINE_SYNC_OUTPUT": "1"}, 0, True),
    ],
)
def test_s4_the_mode_2026_report_corrects_the_guess_but_not_the_person(environment, report, on):
    """§4: reconciled at runtime by DECRQM; a user override still wins."""
    assert detect(environment).reconcile(ProbeAnswers(modes={2026: report})).synchronized_output is on


def test_s4_silence_leaves_the_guess():
    """A terminal that does not know DECRQM keeps what the environment said."""
    settled = ProbeAnswers(settled=frozenset({"synchronized_output", "keyboard"}))
    assert detect(KITTY).reconcile(settled).synchronized_output is True
    assert detect(KITTY).reconcile(settled).kitty_keyboard is False


@pytest.mark.parametrize(
    ("environment", "answers", "images"),
    [
        (KITTY, ProbeAnswers(), "kitty"),
        (KITTY, ProbeAnswers(settled=frozenset({"graphics"})), "none"),
        ({"TERM": "xterm-256color"}, ProbeAnswers(graphics=True), "kitty"),
        ({"TERM": "xterm-256color"}, ProbeAnswers(attributes=(62, 4, 22)), "sixel"),
        ({"TERM": "xterm-256color"}, ProbeAnswers(attributes=(62, 22)), "none"),
        ({"TERM_PROGRAM": "iTerm.app"}, ProbeAnswers(attributes=(62, 4)), "iterm2"),
        (IN_TMUX, ProbeAnswers(attributes=(1, 4)), "none"),
        ({**KITTY, "SIGHTLINE_FORCE_IMAGE_PROTOCOL": "sixel"}, ProbeAnswers(graphics=True), "sixel"),
        ({**IN_TMUX, "SIGHTLINE_FORCE_IMAGE_PROTOCOL": "iterm2"}, ProbeAnswers(), "iterm2"),
        ({**KITTY, "SIGHTLINE_FORCE_IMAGE_PROTOCOL": "off"}, ProbeAnswers(graphics=True), "none"),
    ],
)
def test_s9_image_protocol(environment, answers, images):
    """§9: SIGHTLINE_FORCE_IMAGE_PROTOCOL=kitty|iterm2|sixel|off wins over what is found."""
    assert detect(environment).reconcile(answers).images == images


@pytest.mark.parametrize(
    ("environment", "on"),
    [
        (KITTY, True),
        (GHOSTTY, True),
        ({"TERM_PROGRAM": "WezTerm"}, False),
        ({**KITTY, "SIGHTLINE_NO_KITTY_PLACEHOLDERS": "1"}, False),
        ({"TERM": "xterm", "SIGHTLINE_KITTY_PLACEHOLDERS": "1"}, True),
        ({"TERM": "xterm", "SIGHTLINE_KITTY_PLACEHOLDERS": "1", "SIGHTLINE_NO_KITTY_PLACEHOLDERS": "1"}, False),
        ({"TERM": "xterm"}, False),
    ],
)
def test_s8_s9_kitty_placeholders(environment, on):
    """§8: default-on only for kitty and ghostty; §9: forced off and on."""
    assert detect(environment).reconcile(ProbeAnswers(graphics=True)).kitty_placeholders is on


def test_s9_hardware_cursor_notifications_and_redraw_log():
    """§9: the remaining switches."""
    assert detect(KITTY).hardware_cursor is True
    assert detect({**KITTY, "SIGHTLINE_HARDWARE_CURSOR": "0"}).hardware_cursor is False
    assert detect(KITTY).redraw_log == ""
    assert detect({**KITTY, "SIGHTLINE_DEBUG_REDRAW": "1"}).redraw_log == "sightline-redraw.log"
    assert detect({**KITTY, "SIGHTLINE_DEBUG_REDRAW": "/var/log/frames"}).redraw_log == "/var/log/frames"
    for off in ("off", "0", "false"):
        quiet = detect({**KITTY, "SIGHTLINE_NOTIFICATIONS": off})
        assert quiet.reconcile(ProbeAnswers(notifications=True)).notifications == "off"
        assert notification(quiet.notifications, "title") == ""


@pytest.mark.parametrize(
    ("environment", "way"),
    [
        (KITTY, "osc99"),
        (GHOSTTY, "osc9"),
        ({"TERM": "foot"}, "osc777"),
        (IN_TMUX, "bell"),
        ({"TERM": "xterm-256color"}, "bell"),
    ],
)
def test_notifications_go_the_way_the_terminal_knows(environment, way):
    """And OSC 99 wherever it says so."""
    assert detect(environment).notifications == way
    assert detect(environment).reconcile(ProbeAnswers(notifications=True)).notifications == "osc99"


def test_a_notification_cannot_be_something_else():
    """No field ends early, no sequence in the text, no progress bar by mistake, and a bound on the length."""
    assert notification("osc9", "4;1;50") == "\x1b]9;4,1,50\x1b\\"
    assert notification("osc777", "a;b", "c;d\x1b]0;x\x07") == "\x1b]777;notify;a,b;c,d\x1b\\"
    assert notification("osc99", "one\ntwo") == "\x1b]99;i=sightline:d=1;one two\x1b\\"
    assert notification("bell", "x") == "\x07"
    assert len(notification("osc9", "x" * 10_000)) < 300


@pytest.mark.parametrize(
    ("environment", "colours"),
    [
        ({"TERM": "xterm-256color"}, "256"),
        ({"TERM": "xterm"}, "16"),
        ({"TERM": "xterm", "COLORTERM": "truecolor"}, "true"),
        ({"TERM": "xterm", "COLORTERM": "24bit"}, "true"),
        ({"TERM": "xterm-direct"}, "true"),
        (GHOSTTY, "true"),
        ({"TERM": "dumb"}, "none"),
        ({**KITTY, "NO_COLOR": "1"}, "none"),
        ({**KITTY, "NO_COLOR": ""}, "true"),
        ({**KITTY, "NO_COLOR": "1", "FORCE_COLOR": "3"}, "none"),
        ({**KITTY, "FORCE_COLOR": "0"}, "none"),
        ({**KITTY, "FORCE_COLOR": "1"}, "16"),
        ({"TERM": "dumb", "FORCE_COLOR": "2"}, "256"),
        ({"TERM": "xterm-256color", "FORCE_COLOR": "true"}, "256"),
        ({"TERM": "screen-256color", "COLORTERM": "truecolor"}, "256"),
        ({"TERM": "tmux-256color", "COLORTERM": "truecolor"}, "true"),
    ],
)
def test_colour_depth(environment, colours):
    """NO_COLOR, then FORCE_COLOR, COLORTERM, TERM."""
    assert detect(environment).colours == colours


@pytest.mark.parametrize(
    ("environment", "on"),
    [
        (KITTY, True),
        ({"TERM": "xterm-256color"}, False),
        ({"TERM_PROGRAM": "Apple_Terminal"}, False),
        ({**IN_TMUX, "TERM_PROGRAM_VERSION": "3.4"}, True),
        ({**IN_TMUX, "TERM_PROGRAM_VERSION": "3.3a"}, False),
        ({"TERM": "screen"}, False),
    ],
)
def test_hyperlinks(environment, on):
    """Where they are known to work; tmux since 3.4."""
    assert detect(environment).hyperlinks is on


@pytest.mark.parametrize(
    ("environment", "answers", "dark"),
    [
        ({}, ProbeAnswers(), True),
        ({"COLORFGBG": "0;15"}, ProbeAnswers(), False),
        ({"COLORFGBG": "15;default;0"}, ProbeAnswers(), True),
        ({}, ProbeAnswers(background=(255, 255, 255)), False),
        ({"COLORFGBG": "0;15"}, ProbeAnswers(background=(30, 30, 46)), True),
        ({}, ProbeAnswers(background=(255, 255, 255), dark=True), True),
        ({}, ProbeAnswers(dark=False), False),
    ],
)
def test_dark_or_light(environment, answers, dark):
    """What the terminal calls itself, then its background, then COLORFGBG, else dark."""
    assert detect(environment).reconcile(answers).dark is dark


@pytest.mark.parametrize(
    ("environment", "linear"),
    [
        ({"TERM": "dumb"}, True),
        ({"TERM": ""}, True),
        ({}, True),
        (KITTY, False),
        ({**KITTY, "SIGHTLINE_LINEAR": "1"}, True),
        ({**KITTY, "ACCESSIBLE": "1"}, True),
        ({"TERM": "dumb", "SIGHTLINE_LINEAR": "0"}, False),
    ],
)
def test_linear_mode(environment, linear):
    """Terminals that cannot move their cursor, and people who listen to them."""
    assert detect(environment).linear is linear


def test_answers_change_only_what_they_are_about():
    """No answer, no change."""
    for environment in (KITTY, GHOSTTY, IN_TMUX, {}):
        assert detect(environment).reconcile(ProbeAnswers()) == detect(environment)
    assert Capabilities().reconcile(ProbeAnswers(cell_size=(10, 20), keyboard=0)) == Capabilities(
        cell_size=(10, 20), kitty_keyboard=True
    )
