"""Keys and pasted text, as components see them, and how a key is written down.

- A letter is named in lower case, with `shift`: `A` is `Key("a", shift=True, text="A")`. Any other character is named
  as it is typed (`?`, not `shift+/`): which key makes it depends on the keyboard, and most terminals do not report it.
- `text` is what the key types: empty for a key that only does something, and whenever ctrl, alt or meta is held.
- A spec is `ctrl+alt+shift+meta+name` in any order and case; the usual other names (`esc`, `return`, `cmd`) are known.
"""

from functools import lru_cache
from typing import Literal

import msgspec

KeyKind = Literal["press", "repeat", "release"]


class Key(msgspec.Struct, frozen=True, gc=False):
    """One key: `name` is what is on it in lower case (`a`, `enter`, `up`, `f5`, `space`), `text` what it types."""

    name: str
    ctrl: bool = False
    alt: bool = False
    shift: bool = False
    meta: bool = False
    text: str = ""
    kind: KeyKind = "press"

    def __str__(self) -> str:
        """Its one spelling: `ctrl+alt+shift+meta+name`."""
        held = [name for name in MODIFIERS if getattr(self, name)]
        return "+".join([*held, self.name])


class Paste(msgspec.Struct, frozen=True, gc=False):
    """Text that was pasted, whole."""

    text: str


class KeySpecError(ValueError):
    """A spec that names no key. The message has the wrong part, and what may have been meant."""


MODIFIERS = ("ctrl", "alt", "shift", "meta")

_NAMES = (
    "enter escape tab backspace delete insert home end pageup pagedown up down left right space begin menu "
    "capslock scrolllock numlock printscreen pause "
    "play media_pause playpause reverse stop fastforward rewind next previous record volumedown volumeup mute "
    "left_shift left_ctrl left_alt left_super left_hyper left_meta "
    "right_shift right_ctrl right_alt right_super right_hyper right_meta level3_shift level5_shift"
)
NAMED_KEYS = frozenset(_NAMES.split()) | {f"f{number}" for number in range(1, 36)}

_MODIFIER_ALIASES = {
    "control": "ctrl", "option": "alt", "opt": "alt", "cmd": "meta", "command": "meta", "super": "meta", "win": "meta",
}  # fmt: skip
_KEY_ALIASES = {
    "esc": "escape", "return": "enter", "cr": "enter", "del": "delete", "ins": "insert", "bs": "backspace",
    "pgup": "pageup", "page_up": "pageup", "pgdn": "pagedown", "pgdown": "pagedown", "page_down": "pagedown",
    "spacebar": "space", " ": "space", "plus": "+", "minus": "-",
}  # fmt: skip

_Combination = tuple[str, bool, bool, bool, bool]


def matches(event: object, spec: str) -> bool:
    """Whether this is the key `spec` names (`ctrl+c`, `shift+tab`, `escape`), pressed or repeating."""
    if not isinstance(event, Key) or event.kind == "release":
        return False
    return (event.name, event.ctrl, event.alt, event.shift, event.meta) == _combination(spec)


def is_release(event: object) -> bool:
    """Whether a key was released."""
    return isinstance(event, Key) and event.kind == "release"


def is_repeat(event: object) -> bool:
    """Whether a key is held down and comes again."""
    return isinstance(event, Key) and event.kind == "repeat"


def parse_key(spec: str) -> Key:
    """The key a spec names. KeySpecError names the mistake."""
    name, ctrl, alt, shift, meta = _combination(spec)
    return Key(name, ctrl, alt, shift, meta)


def character_key(character: str, *, ctrl: bool = False, alt: bool = False, meta: bool = False) -> Key:
    """The key that types one character, as far as that can be derived from it."""
    text = "" if ctrl or alt or meta else character
    if character == " ":
        return Key("space", ctrl, alt, False, meta, text)
    lower = character.lower()
    if lower != character and len(lower) == 1:
        return Key(lower, ctrl, alt, True, meta, text)
    return Key(character, ctrl, alt, False, meta, text)


@lru_cache(maxsize=1024)
def _combination(spec: str) -> _Combination:
    if spec == " ":
        return ("space", False, False, False, False)
    *modifiers, last = _parts(spec)
    held = {_modifier(part, spec) for part in modifiers}
    if len(last) == 1 and last.lower() != last and not held:
        held.add("shift")  # `G` alone is what shift and g type; in `ctrl+G` the capital is a way of writing
    name = _key_name(last, spec)
    return (name, "ctrl" in held, "alt" in held, "shift" in held, "meta" in held)


def _parts(spec: str) -> list[str]:
    """`ctrl++` is ctrl and the plus key."""
    text = spec.strip()
    if not text:
        raise KeySpecError("the key is empty. Write for example 'ctrl+x' or 'f5'")
    if text == "+":
        return ["+"]
    if text.endswith("++"):
        return [*text[:-2].split("+"), "+"]
    return [part.strip() for part in text.split("+")]


def _modifier(part: str, spec: str) -> str:
    lower = part.lower()
    lower = _MODIFIER_ALIASES.get(lower, lower)
    if lower in MODIFIERS:
        return lower
    raise KeySpecError(f"{_quoted(part)} in {_quoted(spec)} is not a modifier.{_nearest(lower, MODIFIERS, 'ctrl')}")


def _key_name(part: str, spec: str) -> str:
    lower = part.lower()
    lower = _KEY_ALIASES.get(lower, lower)
    if lower in NAMED_KEYS or (len(lower) == 1 and lower.isprintable()):
        return lower
    if not part:
        raise KeySpecError(f"{_quoted(spec)} ends without a key. Write for example 'ctrl+x'")
    if lower in MODIFIERS or lower in _MODIFIER_ALIASES:
        raise KeySpecError(f"{_quoted(spec)} holds a modifier but no key. Write for example '{lower}+x'")
    where = "" if part == spec else f" in {_quoted(spec)}"
    raise KeySpecError(f"{_quoted(part)}{where} is not a key.{_nearest(lower, (*NAMED_KEYS, *_KEY_ALIASES), 'enter')}")


def _quoted(text: str) -> str:
    return repr(text[:40])


def _nearest(word: str, known: "tuple[str, ...]", example: str) -> str:
    from difflib import get_close_matches

    found = get_close_matches(word, sorted(known), n=1, cutoff=0.5)
    return f" Did you mean '{found[0]}'?" if found else f" Write for example '{example}'"
