"""What a complete escape sequence means: a key, a reply to a query, or nothing.

Pure, and blind to how the bytes came. Known here: xterm, VT220, rxvt, the Linux console, keypads (SS3), xterm's
modifyOtherKeys (`CSI 27;mod;code ~`) and kitty's keyboard protocol
(`CSI code:shifted:base ; modifiers:event ; text u`, and its event types on the older forms). Mouse reports and focus
changes are known and dropped; so is whatever is not known.
"""

import re
from typing import Literal

import msgspec

from sightline.tty.input._keys import Key, KeyKind, Paste, character_key


class TerminalReply(msgspec.Struct, frozen=True, gc=False):
    """A reply of the terminal: `body` is the sequence without what opens and closes a string, or `CSI`."""

    kind: Literal["csi", "osc", "dcs", "apc"]
    body: str


Event = Key | Paste | TerminalReply

_ARROWS = {"A": "up", "B": "down", "C": "right", "D": "left"}
_LETTERS = {**_ARROWS, "E": "begin", "F": "end", "H": "home", "P": "f1", "Q": "f2", "R": "f3", "S": "f4"}
_NUMBERS = {1: "home", 2: "insert", 3: "delete", 4: "end", 5: "pageup", 6: "pagedown", 7: "home", 8: "end", 29: "f16"}
_FUNCTION_NUMBERS = (11, 12, 13, 14, 15, 17, 18, 19, 20, 21, 23, 24, 25, 26, 28, 29, 31, 32, 33, 34, 42, 43, 44, 45)
_NUMBERS |= {number: f"f{index}" for index, number in enumerate(_FUNCTION_NUMBERS, 1)}
_RXVT_ARROWS = {letter.lower(): name for letter, name in _ARROWS.items()}
_SS3_NAMES = _LETTERS | {"M": "enter", "I": "tab"}
_SS3_CHARACTERS = {" ": " ", "X": "="} | dict(zip("jklmnopqrstuvwxy", "*+,-./0123456789", strict=True))

_KITTY_NAMES = {8: "backspace", 9: "tab", 13: "enter", 27: "escape", 127: "backspace", 57427: "begin"}
_KITTY_NAMES |= dict(enumerate(("capslock", "scrolllock", "numlock", "printscreen", "pause", "menu"), 57358))
_KITTY_NAMES |= {57376 + index: f"f{13 + index}" for index in range(23)}
_KITTY_NAMES |= dict(
    enumerate(("left", "right", "up", "down", "pageup", "pagedown", "home", "end", "insert", "delete"), 57417)
)
_KITTY_NAMES[57414] = "enter"
_MEDIA = "play media_pause playpause reverse stop fastforward rewind next previous record volumedown volumeup mute"
_KITTY_NAMES |= dict(enumerate(_MEDIA.split(), 57428))
_HELD = "left_shift left_ctrl left_alt left_super left_hyper left_meta right_shift right_ctrl right_alt right_super"
_KITTY_NAMES |= dict(enumerate(f"{_HELD} right_hyper right_meta level3_shift level5_shift".split(), 57441))
_KEYPAD = {57399 + index: character for index, character in enumerate("0123456789./*-+")} | {57415: "=", 57416: ","}
_PRIVATE_USE = range(57344, 63744)

_SHIFT, _ALT, _CTRL, _CAPS = 1, 2, 4, 64
_META = 8 | 16 | 32  # super, hyper and meta: no keyboard has more than one of them
_KINDS: dict[int, KeyKind] = {1: "press", 2: "repeat", 3: "release"}
_plain = re.compile(r"[0-9;:]*").fullmatch


def control_key(byte: int, *, alt: bool = False) -> Key:
    """The key that sends one C0 control, or DEL."""
    named = {9: "tab", 13: "enter", 27: "escape", 127: "backspace"}.get(byte)
    if named is not None:
        return Key(named, alt=alt)
    return Key("space" if byte == 0 else chr(byte + 64).lower(), ctrl=True, alt=alt)


def ss3_event(body: str) -> Key | None:
    """What `ESC O body` means; some terminals put the modifiers between (`ESC O 5 P`, `ESC O 1;5 P`)."""
    final, parameters = body[-1], body[:-1]
    modifiers = _number(parameters.rpartition(";")[2], 1)
    if final in _SS3_NAMES:
        return _held(_SS3_NAMES[final], modifiers, "press")
    if final in _RXVT_ARROWS:
        return Key(_RXVT_ARROWS[final], ctrl=True)
    return character_key(_SS3_CHARACTERS[final]) if final in _SS3_CHARACTERS else None


def csi_event(body: str) -> Key | TerminalReply | None:
    final, parameters = body[-1], body[:-1]
    if body[0] in "?>=" or (final == "y" and parameters.endswith("$")) or (final in "tnx" and parameters):
        return TerminalReply("csi", body)
    if body[0] == "[":  # the Linux console's F1 to F5
        return Key(f"f{ord(final) - 64}") if final in "ABCDE" else None
    if not _plain(parameters):
        return None
    fields = parameters.split(";")
    if final == "u":
        return _kitty_key(fields)
    if final in "~^@$":
        return _numbered_key(fields, final)
    return _lettered_key(fields, final, body)


def _lettered_key(fields: list[str], final: str, body: str) -> Key | TerminalReply | None:
    modifiers, kind = _modifiers(fields[1] if len(fields) > 1 else "")
    if final == "R" and len(fields) > 1 and (fields[0] != "1" or not 2 <= modifiers <= 16):
        # Where the cursor is; with one row number it reads like F3 held with a modifier.
        return TerminalReply("csi", body)
    if final in _LETTERS:
        return _held(_LETTERS[final], modifiers, kind)
    if final == "Z":
        return _held("tab", modifiers - 1 | _SHIFT, kind, offset=0)
    if body in _RXVT_ARROWS:
        return Key(_RXVT_ARROWS[final], shift=True)
    return TerminalReply("csi", body) if final == "c" else None


def _numbered_key(fields: list[str], final: str) -> Key | None:
    number = _number(fields[0])
    if final == "~" and number == 27 and len(fields) == 3:
        modifiers = _number(fields[1], 1)
        return _typed_key(_number(fields[2]), modifiers - 1, "press", shifted_already=True)
    name = _KITTY_NAMES.get(number) if number > 57343 else _NUMBERS.get(number)
    if name is None:
        return None
    modifiers, kind = _modifiers(fields[1] if len(fields) > 1 else "")
    rxvt = {"~": 0, "$": _SHIFT, "^": _CTRL, "@": _SHIFT | _CTRL}[final]
    return _held(name, modifiers - 1 | rxvt, kind, offset=0)


def _kitty_key(fields: list[str]) -> Key | None:
    codes = [_number(code) for code in fields[0].split(":")] + [0, 0]
    modifiers, kind = _modifiers(fields[1] if len(fields) > 1 else "")
    text = "".join(_character(_number(code)) for code in fields[2].split(":")) if len(fields) > 2 else ""
    return _typed_key(codes[0], modifiers - 1, kind, shifted=codes[1], base=codes[2], text=text)


def _typed_key(
    code: int,
    modifiers: int,
    kind: KeyKind,
    *,
    shifted: int = 0,
    base: int = 0,
    text: str = "",
    shifted_already: bool = False,
) -> Key | None:
    """`shifted_already`: the code is of the character, shift included, as xterm reports it."""
    if code in _KITTY_NAMES:
        return _held(_KITTY_NAMES[code], modifiers, kind, offset=0)
    commanding = modifiers & (_CTRL | _ALT | _META)
    character = _KEYPAD.get(code) or _character(code)
    if commanding and base and not character.isascii():
        character, shifted = _character(base), 0  # ctrl+с on a Cyrillic keyboard is the key where c is
    if not character:
        return None
    return _character_key(character, _character(shifted), modifiers, kind, text, shifted_already=shifted_already)


def _character_key(
    character: str, shifted: str, modifiers: int, kind: KeyKind, text: str, *, shifted_already: bool
) -> Key:
    shift = bool(modifiers & _SHIFT)
    is_letter = character.lower() != character.upper() and len(character.upper()) == len(character.lower()) == 1
    name = typed = character
    if is_letter:
        name = character.lower()
        typed = character.upper() if shift != bool(modifiers & _CAPS) else name
    elif character == " ":
        name = "space"
    elif shift and (shifted or shifted_already):
        name = typed = shifted or character
        shift = False
    silent = modifiers & (_CTRL | _ALT | _META) or kind == "release"
    return _held(name, (modifiers & ~_SHIFT) | shift, kind, offset=0, text="" if silent else text or typed)


def _held(name: str, modifiers: int, kind: KeyKind, *, offset: int = 1, text: str = "") -> Key:
    """A key with the bits of what is held; sequences write them plus one (`offset`)."""
    bits = max(0, modifiers - offset)
    return Key(name, bool(bits & _CTRL), bool(bits & _ALT), bool(bits & _SHIFT), bool(bits & _META), text, kind)


def _modifiers(field: str) -> tuple[int, KeyKind]:
    modifiers, _, event = field.partition(":")
    return max(1, _number(modifiers, 1)), _KINDS.get(_number(event, 1), "press")


def _number(text: str, default: int = 0) -> int:
    return int(text) if text.isdecimal() and len(text) < 10 else default


def _character(code: int) -> str:
    """The character of a code, if it is one that can be typed."""
    if code < 0x20 or code > 0x10FFFF or code in _PRIVATE_USE:
        return ""
    character = chr(code)
    return character if is_typed(character) else ""


# Controls, surrogates and the bidirectional overrides; joiners and variation selectors are part of what is typed.
_untyped = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]").match


def is_typed(character: str) -> bool:
    return _untyped(character) is None
