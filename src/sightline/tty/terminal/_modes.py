"""What we switch on in the terminal, and off again.

Pure: text to send, and a memory of what was sent, because only what was switched on is to be undone. The keyboard is
kitty's protocol (what is held, repeats and releases, the key behind a letter) where the terminal has it, otherwise
xterm's modifyOtherKeys.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sightline.tty.terminal._capabilities import ProbeAnswers

_KITTY_FLAGS = 1 | 2 | 4  # unambiguous keys, event types, alternate keys
_PUSH_KEYBOARD = f"\x1b[>{_KITTY_FLAGS}u"
_SET_KEYBOARD = f"\x1b[={_KITTY_FLAGS};1u"
_POP_KEYBOARD = "\x1b[<u"
_OTHER_KEYS, _NO_OTHER_KEYS = "\x1b[>4;2m", "\x1b[>4;0m"
_PASTE, _NO_PASTE = "\x1b[?2004h", "\x1b[?2004l"
_APPEARANCE, _NO_APPEARANCE = "\x1b[?2031h\x1b[?996n", "\x1b[?2031l"
_RESIZES, _NO_RESIZES = "\x1b[?2048h", "\x1b[?2048l"
_PUSH_TITLE, _POP_TITLE = "\x1b[22;2t", "\x1b[23;2t"

SYNC_END = "\x1b[?2026l"
AUTOWRAP = "\x1b[?7h"
SHOW_CURSOR = "\x1b[?25h"
_PLAIN = "\x1b[0m"
CANCEL = "\x18"  # ends whatever half sequence was sent before


class Modes:
    """The switches. `silent` terminals (TERM=dumb) get none."""

    def __init__(self, *, silent: bool = False) -> None:
        self._silent = silent
        self._undo: dict[str, str] = {}

    def enter(self) -> str:
        return self._on("paste", _PASTE, _NO_PASTE)

    def adapt(self, answers: ProbeAnswers) -> str:
        """What the terminal turned out to have."""
        sent = ""
        if answers.keyboard is not None:
            sent += self._off("other_keys") + self._on("keyboard", _PUSH_KEYBOARD, _POP_KEYBOARD)
        elif "keyboard" in answers.settled:
            sent += self._on("other_keys", _OTHER_KEYS, _NO_OTHER_KEYS)
        if answers.supports(2031):
            sent += self._on("appearance", _APPEARANCE, _NO_APPEARANCE)
        if answers.supports(2048):
            sent += self._on("resizes", _RESIZES, _NO_RESIZES)
        return sent

    def again(self) -> str:
        """After an unannounced stop: the same, without stacking anything a second time."""
        if not self._undo:
            return ""
        return _PASTE + (_SET_KEYBOARD if "keyboard" in self._undo else "")

    def title(self, text: str) -> str:
        """Name the window; its previous name is restored in the end where the terminal has a stack of names."""
        if self._silent:
            return ""
        return self._on("title", _PUSH_TITLE, _POP_TITLE) + f"\x1b]2;{text}\x1b\\"

    def leave(self, farewell: str = "") -> str:
        """Everything off. `farewell` goes where lines wrap again but nothing else was undone yet."""
        if self._silent:
            return ""
        undone = "".join(self._undo.values())
        self._undo = {}
        return SYNC_END + AUTOWRAP + _PLAIN + farewell + undone + SHOW_CURSOR

    def _on(self, name: str, on: str, off: str) -> str:
        if self._silent or name in self._undo:
            return ""
        self._undo[name] = off
        return on

    def _off(self, name: str) -> str:
        return self._undo.pop(name, "")
