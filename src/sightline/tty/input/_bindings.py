"""Which keys do what: named actions, their default keys, and the user's changes.

An action belongs to a scope, the place that listens: the editor, a list, tabs, the whole app. The same key may serve
actions of different scopes; `app` listens everywhere, so its keys are everyone's. Mistakes in the user's settings are
reported and left out: a mistake in one line never costs the other bindings, nor the program.
"""

from collections.abc import Mapping, Sequence

import msgspec

from sightline.tty.input._keys import Key, KeySpecError, parse_key


class Binding(msgspec.Struct, frozen=True):
    """The scope of an action, its default keys, and what it does."""

    scope: str
    keys: tuple[str, ...]
    about: str = ""


def bindings_in(scope: str, **actions: tuple[str, str]) -> dict[str, Binding]:
    """The actions of one scope by name: their keys with blanks between them, and what they do."""
    return {name: Binding(scope, tuple(keys.split()), about) for name, (keys, about) in actions.items()}


# In the editor: up and down on the first and last row, and history keys anywhere, go through history; ctrl+d exits when
# there is nothing to delete, so it is both.
DEFAULT_ACTIONS: dict[str, Binding] = {
    **bindings_in(
        "editor",
        cursor_left=("left ctrl+b", "one character left"),
        cursor_right=("right ctrl+f", "one character right"),
        cursor_up=("up", "one row up; on the first row, the previous entry of the history"),
        cursor_down=("down", "one row down; on the last row, the next entry of the history"),
        cursor_word_left=("ctrl+left alt+left alt+b", "to the beginning of the word"),
        cursor_word_right=("ctrl+right alt+right alt+f", "to the end of the word"),
        cursor_line_start=("home ctrl+a", "to the beginning of the line"),
        cursor_line_end=("end ctrl+e", "to the end of the line"),
        cursor_text_start=("ctrl+home alt+<", "to the beginning of the text"),
        cursor_text_end=("ctrl+end alt+>", "to the end of the text"),
        cursor_page_up=("pageup", "as many rows up as are shown"),
        cursor_page_down=("pagedown", "as many rows down as are shown"),
        delete_back=("backspace shift+backspace ctrl+h", "delete the character before the cursor"),
        delete_forward=("delete shift+delete ctrl+d", "delete the character under the cursor"),
        delete_word_back=("ctrl+w alt+backspace ctrl+backspace", "cut the word before the cursor"),
        delete_word_forward=("alt+d alt+delete ctrl+delete", "cut the word after the cursor"),
        kill_line=("ctrl+k", "cut to the end of the line"),
        kill_line_back=("ctrl+u", "cut to the beginning of the line"),
        yank=("ctrl+y", "insert what was cut last"),
        yank_pop=("alt+y", "exchange what was inserted for what was cut before it"),
        transpose=("ctrl+t", "exchange the two characters around the cursor"),
        undo=("ctrl+_ ctrl+/ ctrl+-", "undo the last change"),
        redo=("alt+_ alt+/ ctrl+shift+z", "redo what was undone"),
        newline=("shift+enter alt+enter ctrl+enter ctrl+j", "break the line; so does a backslash before enter"),
        submit=("enter", "send; on an offered completion, take it"),
        history_prev=("ctrl+p alt+up ctrl+up", "the previous entry of the history"),
        history_next=("ctrl+n alt+down ctrl+down", "the next entry of the history"),
        history_search=("ctrl+r", "search the history"),
        complete=("tab", "offer completions; take the one that is marked"),
        complete_back=("shift+tab", "nothing yet"),
        complete_cancel=("escape", "close the completions"),
        external_editor=("ctrl+g", "write in $VISUAL or $EDITOR"),
        vim_normal=("escape ctrl+[", "with vim keys, normal mode"),
    ),
    **bindings_in(
        "select",
        select_up=("up ctrl+p shift+tab", "the item above; from the first, the last"),
        select_down=("down ctrl+n tab", "the item below; from the last, the first"),
        select_page_up=("pageup", "a page up"),
        select_page_down=("pagedown", "a page down"),
        select_first=("home", "the first item"),
        select_last=("end", "the last item"),
        select_confirm=("enter", "choose"),
        select_cancel=("escape ctrl+g", "leave"),
        select_toggle=("space", "mark or unmark, where several can be chosen"),
    ),
    **bindings_in(
        "tree",
        tree_expand=("right", "open a node"),
        tree_collapse=("left", "close a node, or go to its parent"),
        tree_toggle=("space", "open or close a node"),
    ),
    **bindings_in(
        "tabs",
        tab_next=("tab right ctrl+pagedown", "the next tab"),
        tab_previous=("shift+tab left ctrl+pageup", "the previous tab"),
    ),
    **bindings_in(
        "app",
        interrupt=("escape ctrl+c", "stop, close or clear; pressed twice, leave"),
        exit=("ctrl+d", "leave, when nothing is written; also from a list or a dialog"),
        suspend=("ctrl+z", "to the shell; fg comes back"),
        clear_screen=("ctrl+l", "clear the screen and draw it again"),
    ),
}


class Bindings:
    """`bindings.matches(event, "submit")`. `problems` lists what of the overrides could not be taken, one line each."""

    def __init__(
        self,
        overrides: Mapping[str, str | Sequence[str]] | None = None,
        actions: Mapping[str, Binding] = DEFAULT_ACTIONS,
    ) -> None:
        self._actions = actions
        self.problems: list[str] = []
        self._keys = {name: tuple(str(parse_key(spec)) for spec in action.keys) for name, action in actions.items()}
        defaults = dict(self._keys)
        for action, specs in (overrides or {}).items():
            self._override(action, specs)
        self.problems += _conflicts(actions, self._keys, defaults)
        self._held = {name: {_combination(parse_key(spec)) for spec in specs} for name, specs in self._keys.items()}

    def matches(self, event: object, action: str) -> bool:
        """Whether this key, pressed or repeating, means the action."""
        return isinstance(event, Key) and event.kind != "release" and _combination(event) in self._held[action]

    def keys(self, action: str) -> tuple[str, ...]:
        """The keys of an action in their one spelling, the first being the one to show. Empty when it has none."""
        return self._keys[action]

    def actions(self, scope: str | None = None) -> tuple[str, ...]:
        """The names of all actions, or of one scope's."""
        return tuple(name for name, action in self._actions.items() if scope in (None, action.scope))

    def become(self, other: "Bindings") -> None:
        """Mean what another one does from now on, for everyone who holds this one."""
        self._actions, self._keys, self._held, self.problems = other._actions, other._keys, other._held, other.problems

    def _override(self, action: object, specs: object) -> None:
        if action not in self._actions:
            self.problems.append(f"unknown action {str(action)[:40]!r}.{_nearest(str(action), self._actions)}")
            return
        if isinstance(specs, str):
            specs = [specs]
        if not isinstance(specs, (list, tuple)):
            self.problems.append(
                f"{action}: keys are a string or a list of strings, for example 'ctrl+x'. Left unchanged"
            )
            return
        good = [str(key) for key in (self._parsed(str(action), spec) for spec in specs) if key is not None]
        if good or not specs:
            self._keys[str(action)] = tuple(dict.fromkeys(good))

    def _parsed(self, action: str, spec: object) -> Key | None:
        try:
            return parse_key(spec if isinstance(spec, str) else "")
        except KeySpecError as error:
            self.problems.append(f"{action}: {error}")
            return None


def _combination(key: Key) -> tuple[str, bool, bool, bool, bool]:
    return (key.name, key.ctrl, key.alt, key.shift, key.meta)


def _conflicts(
    actions: Mapping[str, Binding], keys: Mapping[str, tuple[str, ...]], defaults: Mapping[str, tuple[str, ...]]
) -> list[str]:
    """Keys that do two things in one place, but not those that do by design."""
    found = []
    names = list(actions)
    for index, one in enumerate(names):
        for other in names[index + 1 :]:
            if not _heard_together(actions[one].scope, actions[other].scope):
                continue
            shared = set(keys[one]) & set(keys[other])
            by_design = set(defaults[one]) & set(defaults[other])
            found += [f"{key} means both {one} and {other}: give one of them another key" for key in shared - by_design]
    return sorted(found)


def _heard_together(one: str, other: str) -> bool:
    return one == other or "app" in (one, other)


def _nearest(word: str, known: Mapping[str, Binding]) -> str:
    from difflib import get_close_matches

    found = get_close_matches(word, list(known), n=1, cutoff=0.4)
    return f" Did you mean '{found[0]}'?" if found else ""
