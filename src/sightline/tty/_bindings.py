"""Which keys do what: named actions, their default keys, and what a person changed.

An action belongs to a scope, the place that listens: the editor, a list, tabs, the whole app. The same key may serve
actions of different scopes; `app` is heard everywhere, so its keys are everyone's. What a person's settings get wrong
is reported and left out: a mistake in one line never costs the other bindings, nor the program.
"""

from collections.abc import Mapping, Sequence

import msgspec

from sightline.tty._keys import Key, KeySpecError, parse_key


class Action(msgspec.Struct, frozen=True):
    """Where an action is heard, and the keys it has unless told otherwise."""

    scope: str
    keys: tuple[str, ...]


def _scope(scope: str, **keys: str) -> dict[str, Action]:
    return {name: Action(scope, tuple(specs.split())) for name, specs in keys.items()}


# In the editor: up and down on the first and last row, and history keys anywhere, go through history; ctrl+d exits when
# there is nothing to delete, so it is both.
DEFAULT_ACTIONS: dict[str, Action] = {
    **_scope(
        "editor",
        cursor_left="left ctrl+b",
        cursor_right="right ctrl+f",
        cursor_up="up",
        cursor_down="down",
        cursor_word_left="ctrl+left alt+left alt+b",
        cursor_word_right="ctrl+right alt+right alt+f",
        cursor_line_start="home ctrl+a",
        cursor_line_end="end ctrl+e",
        cursor_text_start="ctrl+home alt+<",
        cursor_text_end="ctrl+end alt+>",
        cursor_page_up="pageup",
        cursor_page_down="pagedown",
        delete_back="backspace shift+backspace ctrl+h",
        delete_forward="delete shift+delete ctrl+d",
        delete_word_back="ctrl+w alt+backspace ctrl+backspace",
        delete_word_forward="alt+d alt+delete ctrl+delete",
        kill_line="ctrl+k",
        kill_line_back="ctrl+u",
        yank="ctrl+y",
        yank_pop="alt+y",
        transpose="ctrl+t",
        undo="ctrl+_ ctrl+/ ctrl+-",
        redo="alt+_ alt+/ ctrl+shift+z",
        newline="shift+enter alt+enter ctrl+enter ctrl+j",
        submit="enter",
        history_prev="ctrl+p alt+up ctrl+up",
        history_next="ctrl+n alt+down ctrl+down",
        history_search="ctrl+r",
        complete="tab",
        complete_back="shift+tab",
        complete_cancel="escape",
        external_editor="ctrl+g",
        vim_normal="escape ctrl+[",
    ),
    **_scope(
        "select",
        select_up="up ctrl+p shift+tab",
        select_down="down ctrl+n tab",
        select_page_up="pageup",
        select_page_down="pagedown",
        select_first="home",
        select_last="end",
        select_confirm="enter",
        select_cancel="escape ctrl+g",
        select_toggle="space",
    ),
    **_scope("tree", tree_expand="right", tree_collapse="left", tree_toggle="space"),
    **_scope("tabs", tab_next="tab right ctrl+pagedown", tab_previous="shift+tab left ctrl+pageup"),
    **_scope(
        "app",
        interrupt="escape ctrl+c",
        exit="ctrl+d",
        suspend="ctrl+z",
        clear_screen="ctrl+l",
    ),
}


class Bindings:
    """`bindings.matches(event, "submit")`. `problems` says what of the overrides could not be taken, one line each."""

    def __init__(
        self,
        overrides: Mapping[str, str | Sequence[str]] | None = None,
        actions: Mapping[str, Action] = DEFAULT_ACTIONS,
    ) -> None:
        self._actions = actions
        self.problems: list[str] = []
        self._keys = {name: tuple(str(parse_key(spec)) for spec in action.keys) for name, action in actions.items()}
        defaults = dict(self._keys)
        for action, wanted in (overrides or {}).items():
            self._override(action, wanted)
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

    def _override(self, action: object, wanted: object) -> None:
        if action not in self._actions:
            self.problems.append(f"unknown action {str(action)[:40]!r}.{_nearest(str(action), self._actions)}")
            return
        if isinstance(wanted, str):
            wanted = [wanted]
        if not isinstance(wanted, (list, tuple)):
            self.problems.append(
                f"{action}: keys are a string or a list of strings, for example 'ctrl+x'. Left unchanged"
            )
            return
        good = [str(key) for key in (self._parsed(str(action), spec) for spec in wanted) if key is not None]
        if good or not wanted:
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
    actions: Mapping[str, Action], keys: Mapping[str, tuple[str, ...]], defaults: Mapping[str, tuple[str, ...]]
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


def _nearest(word: str, known: Mapping[str, Action]) -> str:
    from difflib import get_close_matches

    found = get_close_matches(word, list(known), n=1, cutoff=0.4)
    return f" Did you mean '{found[0]}'?" if found else ""
