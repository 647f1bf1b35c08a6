"""What the terminal can do: a pure function of the environment and of what it answered.

- The environment gives a first guess at once; answers correct it later (`reconcile`). A wrong guess is cosmetic.
- A SIGHTLINE_ variable of the user wins over both. A switch is off when it is 0, false, off, no or empty.
- A multiplexer hides the terminal behind it: what is known of that terminal counts for nothing.
"""

import re
from collections.abc import Mapping
from typing import Literal

import msgspec

from sightline.tty.terminal._profiles import Profile, multiplexer_of, profile_of
from sightline.tty.theme._colour import RGB, Depth, luminance

ImageProtocol = Literal["kitty", "iterm2", "sixel", "none"]
Notifications = Literal["osc99", "osc9", "osc777", "bell", "off"]

_OFF = {"", "0", "false", "off", "no"}
_IMAGE_CHOICES: dict[str, ImageProtocol] = {
    "kitty": "kitty", "iterm2": "iterm2", "sixel": "sixel", "off": "none", "none": "none", "0": "none", "false": "none",
}  # fmt: skip
_SIXEL = 4
_SUPPORTED = (1, 2, 3)  # DECRPM: set, reset, permanently set; 0 is unknown, 4 permanently reset


class ProbeAnswers(msgspec.Struct, frozen=True):
    """The answers of the terminal. `settled` names the probes that are no longer awaited, answered or not."""

    settled: frozenset[str] = frozenset()
    keyboard: int | None = None
    background: RGB | None = None
    dark: bool | None = None
    modes: dict[int, int] = {}
    notifications: bool = False
    graphics: bool = False
    cell_size: tuple[int, int] | None = None
    attributes: tuple[int, ...] = ()

    def supports(self, mode: int) -> bool:
        """Whether it knows a private mode and lets it be set."""
        return self.modes.get(mode) in _SUPPORTED


class Capabilities(msgspec.Struct, frozen=True):
    """What the terminal can do, as far as is known. The defaults are those of an unknown terminal."""

    terminal: str = "unknown"
    multiplexer: str = ""  # tmux, screen, zellij, or nothing: between us and the terminal
    synchronized_output: bool = False
    images: ImageProtocol = "none"
    kitty_placeholders: bool = False
    hyperlinks: bool = False
    colours: Depth = "16"
    hardware_cursor: bool = True
    notifications: Notifications = "bell"
    kitty_keyboard: bool = False
    dark: bool = True
    background: RGB | None = None
    cell_size: tuple[int, int] | None = None  # width and height of a cell in pixels
    linear: bool = (
        False  # plain appended lines only: the terminal cannot move its cursor, or is read by a screen reader
    )
    redraw_log: str = ""  # the file in which every frame is logged
    chosen: frozenset[str] = frozenset()  # the fields the user decided: no answer changes them

    def reconcile(self, answers: ProbeAnswers) -> "Capabilities":
        """These, corrected by the terminal's answers. Silence changes nothing but kitty's images."""
        images = self._images(answers)
        placeholders = self.kitty_placeholders or "kitty_placeholders" in self.chosen
        return msgspec.structs.replace(
            self,
            synchronized_output=self._synchronized_output(answers),
            images=images,
            kitty_placeholders=placeholders and images == "kitty",
            notifications="osc99" if answers.notifications and self.notifications != "off" else self.notifications,
            kitty_keyboard=answers.keyboard is not None,
            background=answers.background or self.background,
            dark=_is_dark(answers, self.dark),
            cell_size=answers.cell_size or self.cell_size,
        )

    def _synchronized_output(self, answers: ProbeAnswers) -> bool:
        if "synchronized_output" in self.chosen or 2026 not in answers.modes:
            return self.synchronized_output
        return answers.supports(2026)

    def _images(self, answers: ProbeAnswers) -> ImageProtocol:
        if self.multiplexer or "images" in self.chosen:
            return self.images
        if answers.graphics:
            return "kitty" if self.images == "none" else self.images
        guess: ImageProtocol = self.images
        if guess == "kitty" and "graphics" in answers.settled:
            guess = "none"
        return "sixel" if guess == "none" and _SIXEL in answers.attributes else guess


def detect(environment: Mapping[str, str]) -> Capabilities:
    """The first guess, before the terminal was queried."""
    multiplexer = multiplexer_of(environment)
    profile = profile_of(environment)
    direct = profile if not multiplexer else Profile(profile.name)
    images, placeholders = _image_guess(environment, direct)
    return Capabilities(
        terminal=profile.name,
        multiplexer=multiplexer,
        synchronized_output=_synchronized_output(environment, direct),
        images=images,
        kitty_placeholders=placeholders,
        hyperlinks=_hyperlinks(environment, multiplexer, direct),
        colours=_colours(environment, multiplexer, direct),
        hardware_cursor=not _switched_off(environment, "SIGHTLINE_HARDWARE_CURSOR"),
        notifications="off" if _switched_off(environment, "SIGHTLINE_NOTIFICATIONS") else direct.notifications,
        dark=_dark_guess(environment),
        linear=_linear(environment),
        redraw_log=_redraw_log(environment),
        chosen=_chosen(environment),
    )


def _redraw_log(environment: Mapping[str, str]) -> str:
    if not _switched_on(environment, "SIGHTLINE_DEBUG_REDRAW"):
        return ""
    named = environment["SIGHTLINE_DEBUG_REDRAW"]
    return named if "/" in named or "." in named else "sightline-redraw.log"


def _switched_on(environment: Mapping[str, str], name: str) -> bool:
    return environment.get(name, "").lower() not in _OFF


def _switched_off(environment: Mapping[str, str], name: str) -> bool:
    return name in environment and environment[name].lower() in _OFF - {""}


def _chosen(environment: Mapping[str, str]) -> frozenset[str]:
    fields = {
        "synchronized_output": _sync_choice(environment) is not None,
        "images": _forced_images(environment) is not None,
        "kitty_placeholders": _switched_on(environment, "SIGHTLINE_KITTY_PLACEHOLDERS")
        and not _switched_on(environment, "SIGHTLINE_NO_KITTY_PLACEHOLDERS"),
    }
    return frozenset(name for name, chosen in fields.items() if chosen)


def _sync_choice(environment: Mapping[str, str]) -> bool | None:
    if _switched_on(environment, "SIGHTLINE_NO_SYNC_OUTPUT") or _switched_off(environment, "SIGHTLINE_SYNC_OUTPUT"):
        return False
    if _switched_on(environment, "SIGHTLINE_FORCE_SYNC_OUTPUT") or _switched_on(environment, "SIGHTLINE_SYNC_OUTPUT"):
        return True
    return None


def _synchronized_output(environment: Mapping[str, str], direct: Profile) -> bool:
    choice = _sync_choice(environment)
    if choice is not None:
        return choice
    # The value is codes without separators, each a capital, small letters and perhaps a number: T3CwLrSyUw9.
    if "Sy" in re.findall("[A-Z][a-z]*", environment.get("TERM_FEATURES", "")):
        return True
    return bool(environment.get("WT_SESSION")) or direct.synchronized_output


def _forced_images(environment: Mapping[str, str]) -> ImageProtocol | None:
    return _IMAGE_CHOICES.get(environment.get("SIGHTLINE_FORCE_IMAGE_PROTOCOL", "").lower())


def _image_guess(environment: Mapping[str, str], direct: Profile) -> tuple[ImageProtocol, bool]:
    images = _forced_images(environment) or direct.images
    placeholders = direct.placeholders or _switched_on(environment, "SIGHTLINE_KITTY_PLACEHOLDERS")
    if _switched_on(environment, "SIGHTLINE_NO_KITTY_PLACEHOLDERS"):
        placeholders = False
    return images, placeholders and images == "kitty"


def _hyperlinks(environment: Mapping[str, str], multiplexer: str, direct: Profile) -> bool:
    if multiplexer == "tmux":
        return _tmux_version(environment) >= (3, 4)
    return multiplexer == "zellij" or direct.hyperlinks


def _tmux_version(environment: Mapping[str, str]) -> tuple[int, ...]:
    if environment.get("TERM_PROGRAM") != "tmux":
        return (0,)
    return tuple(int(number) for number in re.findall(r"\d+", environment.get("TERM_PROGRAM_VERSION", "0")))


def _colours(environment: Mapping[str, str], multiplexer: str, direct: Profile) -> Depth:
    term = environment.get("TERM", "")
    forced = environment.get("FORCE_COLOR")
    if environment.get("NO_COLOR") or forced in ("0", "false") or (term == "dumb" and forced is None):
        return "none"
    if forced in ("1", "2", "3"):
        levels: tuple[Depth, ...] = ("16", "256", "true")
        return levels[int(forced) - 1]
    if multiplexer == "screen":
        return "256" if "256color" in term else "16"  # GNU screen garbles 24-bit colours
    if environment.get("COLORTERM", "").lower() in ("truecolor", "24bit") or "direct" in term or direct.true_colour:
        return "true"
    return "256" if "256color" in term else "16"


def _dark_guess(environment: Mapping[str, str]) -> bool:
    """COLORFGBG, where a terminal sets it, ends in the number of the background colour."""
    background = environment.get("COLORFGBG", "").rpartition(";")[2]
    return background not in ("7", "15")


def _linear(environment: Mapping[str, str]) -> bool:
    if _switched_off(environment, "SIGHTLINE_LINEAR"):
        return False
    requested = _switched_on(environment, "SIGHTLINE_LINEAR") or _switched_on(environment, "ACCESSIBLE")
    return requested or environment.get("TERM", "") in ("", "dumb")


def _is_dark(answers: ProbeAnswers, guess: bool) -> bool:
    """What the terminal reports counts before the colour of its background."""
    if answers.dark is not None:
        return answers.dark
    return luminance(answers.background) < 0.18 if answers.background is not None else guess
