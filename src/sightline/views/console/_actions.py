"""The actions of the console: one table of their names, descriptions, commands, keys and handlers.

The completion of `/`, `/help`, `/keys`, the row of keys, `console.keys` in settings and the pages of keys and commands
are all read from it. Rules:

- The order is that of the completion: what a new user needs comes first.
- Keys of the console come before those of the editor. While a dialog is open they do nothing, but for the approval
  level, which can be changed while a request is open.
- A handler is loaded when it is used. It does its work at once, or returns an awaitable.
"""

from collections.abc import Awaitable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from sightline.exceptions import SightlineError
from sightline.text import clean_text
from sightline.tty import Bindings
from sightline.tty.input._bindings import DEFAULT_ACTIONS, Binding, bindings_in

if TYPE_CHECKING:
    from sightline.views.console._console import Console

TOPICS = ("Conversation", "Model and permissions", "Sessions", "Work", "Prompt", "Console")
"""As `/help` lists them."""
_CONVERSATION, _MODEL, _SESSIONS, _WORK, _PROMPT, _CONSOLE = TOPICS


class Action(Binding, frozen=True, kw_only=True):
    """Something the console does when its command is entered or its key is pressed."""

    name: str
    """The name in `console.keys`; empty: its key is one of the editor or of the program, or another action's."""
    command: str
    args: str
    topic: str
    does: str
    """Describes the command; `about` describes the key, which may do less."""
    handler: str
    """`module:function`, called with the console and what follows the command."""
    key_handler: str
    """The same for the key, called with nothing following."""

    async def run(self, console: "Console", args: str = "") -> None:
        """Run the command. A failure is reported."""
        await self._finish(console, self._begin(console, self.handler, args))

    def press(self, console: "Console") -> None:
        begun = self._begin(console, self.key_handler, "")
        if begun is not None:
            console.spawn(self._finish(console, begun))

    def _begin(self, console: "Console", handler: str, args: str) -> Awaitable[object] | None:
        module, _, function = handler.partition(":")
        begun: Awaitable[object] | None = getattr(import_module(f"{__package__}.{module}"), function)(console, args)
        return begun

    async def _finish(self, console: "Console", begun: Awaitable[object] | None) -> None:
        if begun is None:
            return
        try:
            await begun
        except (SightlineError, OSError) as error:
            console.report(f"/{self.command}: {clean_text(str(error))}", "error", getattr(error, "hint", ""))


def _action(
    command: str,
    topic: str,
    does: str,
    handler: str = "",
    keys: str = "",
    *,
    args: str = "",
    name: str | None = None,
    pressed: tuple[str, str] | None = None,
) -> Action:
    """`handler`: `module:function` in `commands/`; empty: `open` of the selector named like the command. `pressed`:
    description and handler of the key, where it does not run the command without arguments."""
    handler = _full_name(command, handler)
    about, key_handler = (pressed[0], _full_name(command, pressed[1])) if pressed else (does, handler)
    return Action(
        "console",
        tuple(keys.split()),
        about,
        name=command if name is None else name,
        command=command,
        args=args,
        topic=topic,
        does=does,
        handler=handler,
        key_handler=key_handler,
    )


def _full_name(command: str, handler: str) -> str:
    if not handler:
        return f"selectors._{command}:open"
    return handler if handler.startswith("selectors.") else f"commands._{handler}"


_ALL = (
    _action("help", _CONSOLE, "commands and keys", "help:open"),
    _action("model", _MODEL, "choose the model", "", "alt+m", args="[NAME]"),
    _action("setup", _MODEL, "add a key, a CLI or a local server"),
    _action(
        "provider",
        _MODEL,
        "work with Claude Code, Codex, Gemini CLI or OpenCode (--provider)",
        "sessions:provider",
        args="[NAME]",
    ),
    _action(
        "thinking",
        _MODEL,
        "how long the model thinks",
        "",
        "alt+e",
        args="[LEVEL]",
        pressed=("the next thinking level: off, minimal, low, medium, high, max", "selectors._thinking:next_level"),
    ),
    _action(
        "approvals",
        _MODEL,
        "what the agent may do: the approval level and the rules",
        "",
        "shift+tab alt+p",
        args="[LEVEL|forget RULE]",
        name="approval",
        pressed=(
            "the next approval level: plan, edit, auto; full is chosen with /approvals",
            "selectors._approvals:next_level",
        ),
    ),
    _action("status", _WORK, "model, context, tokens and cost, jobs and agents", "status:open"),
    _action("stop", _CONVERSATION, "stop the agent", "work:stop", name=""),
    _action(
        "queue",
        _CONVERSATION,
        "send this when the agent is done",
        "work:queue",
        "alt+enter",
        args="[TEXT]",
        name="follow_up",
        pressed=("queue: send when the agent is done", "work:follow_up"),
    ),
    _action(
        "btw",
        _CONVERSATION,
        "ask a side question, outside the conversation",
        "work:btw",
        args="QUESTION",
        pressed=("ask what is written as a side question", "work:ask_draft"),
    ),
    _action("unqueue", _CONVERSATION, "edit queued messages", "work:unqueue", "alt+up"),
    _action("compact", _CONVERSATION, "summarise the older part of the conversation", "work:compact", args="[FOCUS]"),
    _action(
        "todo",
        _CONVERSATION,
        "show, edit or clear the todo list",
        "todo:open",
        "alt+l",
        args="[show|hide|edit|clear]",
        pressed=("show or hide the todo list", "todo:toggle"),
    ),
    _action(
        "copy",
        _CONVERSATION,
        "copy the last answer, as it was written",
        "showing:copy",
        "alt+c",
        args="[all|code|output]",
        name="copy_block",
    ),
    _action(
        "output",
        _CONVERSATION,
        "the whole output of a call",
        "showing:output",
        "ctrl+o",
        args="[HOW MANY BACK]",
        name="view_output",
        pressed=("the whole output of the last call", "showing:output"),
    ),
    _action("unfold", _CONVERSATION, "show more of every block, or less", "showing:unfold", "alt+o", args="[on|off]"),
    _action(
        "reasoning", _CONVERSATION, "show or hide what the model thinks", "showing:reasoning", "alt+t", args="[on|off]"
    ),
    _action("new", _SESSIONS, "start a new session", "sessions:new"),
    _action("clear", _SESSIONS, "the same as /new", "sessions:new", name=""),
    _action("resume", _SESSIONS, "open another session", "", args="[WORDS]"),
    _action("rename", _SESSIONS, "give this session a title", "sessions:rename", args="TITLE"),
    _action("tree", _SESSIONS, "go back to an earlier point, in this session"),
    _action("branch", _SESSIONS, "start a new session from an earlier prompt"),
    _action("fork", _SESSIONS, "start a new session with all of this one"),
    _action("jobs", _WORK, "background jobs: their output, and cancelling them", "", "alt+j"),
    _action(
        "agents",
        _WORK,
        "the agents of this session; new writes the definition of one",
        "",
        "alt+a",
        args="[PATH|new NAME]",
    ),
    _action("mail", _WORK, "the messages between agents; read them, write and answer"),
    _action("files", _WORK, "files changed in this session", "", "alt+g"),
    _action(
        "review",
        _WORK,
        "review a change: what is not committed, a branch, commits",
        "",
        "alt+r",
        args="[BRANCH|A..B|COMMIT] [-- FOCUS]",
        pressed=("step through the findings of the last review", "selectors._review:step"),
    ),
    _action("skill", _WORK, "the skills here, or use one", args="[NAME [WORDS]]"),
    _action("worktree", _WORK, "what changed in the worktree of this session; merge or remove it", "sessions:worktree"),
    _action("attach", _PROMPT, "attach an image", "work:attach", args="FILE|none", name=""),
    _action("paste", _PROMPT, "attach the image on the clipboard", "work:paste", "ctrl+v alt+v", name="paste_image"),
    _action("history", _PROMPT, "search earlier prompts", "work:history", name=""),
    _action("editor", _PROMPT, "write in your editor", "work:editor", name=""),
    _action("settings", _CONSOLE, "settings: what each one does, its value and its source", "", args="[WORDS]"),
    _action("keys", _CONSOLE, "show and change keys"),
    _action("theme", _CONSOLE, "dark or light", "", args="[auto|dark|light]"),
    _action("redraw", _CONSOLE, "clear the screen and draw it again", "showing:redraw", name=""),
    _action("serve", _CONSOLE, "see your sessions in a browser", "sessions:serve"),
    _action("detach", _SESSIONS, "leave; the session keeps running", "sessions:detach"),
    _action("quit", _SESSIONS, "leave and end the session; asks if something is running", "sessions:quit", name=""),
)

COMMANDS = {action.command: action for action in _ALL}
"""By command."""
OWN = {action.name: action for action in _ALL if action.name}
"""The console's own, by name."""

# Alt+enter and alt+up do something else here than in any other editor. Shift+enter, ctrl+j and a backslash break lines.
ACTIONS: dict[str, Binding] = {
    **DEFAULT_ACTIONS,
    **bindings_in(
        "editor",
        newline=("shift+enter ctrl+enter ctrl+j", DEFAULT_ACTIONS["newline"].about),
        history_prev=("ctrl+p ctrl+up", DEFAULT_ACTIONS["history_prev"].about),
        history_next=("ctrl+n ctrl+down", DEFAULT_ACTIONS["history_next"].about),
    ),
    **OWN,
    **bindings_in(
        "entries",
        tree_page_up=("left", "up by as many entries as are shown"),
        tree_page_down=("right", "down by as many entries as are shown"),
        tree_label=("shift+l", "label an entry, or remove its label"),
        tree_filter_next=("ctrl+o", "the next filter"),
        tree_filter_previous=("ctrl+shift+o", "the previous filter"),
        tree_filter_default=("alt+d", "messages and calls"),
        tree_filter_no_tools=("alt+t", "the same without results of tools"),
        tree_filter_user_only=("alt+u", "your own messages"),
        tree_filter_labeled_only=("alt+l", "entries with a label"),
        tree_filter_all=("alt+a", "everything, including bookkeeping"),
    ),
    **bindings_in(
        "list",
        list_everywhere=("ctrl+a", "sessions of all folders, or of this one"),
        list_remove=(
            "delete ctrl+x",
            "cancel a job or an agent; delete a session; forget a rule; reset a setting or a key; dismiss a finding",
        ),
        list_rename=("f2 alt+r", "another title for a session"),
        list_archive=("f3 alt+a", "hide a session from the lists"),
        list_mail=("ctrl+t", "the messages between agents"),
        list_edit=("ctrl+e", "open a file in your editor"),
        list_add=("ctrl+a", "add a key for an action"),
        list_fix_all=("ctrl+a", "a prompt that fixes all findings of a review"),
        list_project=("ctrl+o", "write settings for this project, or for yourself"),
        model_thinking=("ctrl+t", "how long the model thinks"),
        model_role=("ctrl+r", "use a model for something else"),
    ),
    **bindings_in(
        "viewer",
        view_up=("up k ctrl+p", "one row up"),
        view_down=("down j ctrl+n enter", "one row down"),
        view_page_up=("pageup b ctrl+b", "a screen up"),
        view_page_down=("pagedown space ctrl+f", "a screen down"),
        view_first=("home g", "to the beginning"),
        view_last=("end shift+g", "to the end, and follow it"),
        view_search=("/", "search"),
        view_next=("n", "the next match"),
        view_previous=("shift+n", "the previous match"),
        view_wrap=("w", "wrap long lines, or cut them"),
        view_copy=("c y", "copy all of it, as it was written"),
        view_before=("left [", "the previous block"),
        view_after=("right ]", "the next block"),
        view_close=("q", "leave"),
        mail_write=("m", "write a message"),
        mail_open=("o", "all of a message, and who has read it"),
    ),
    **bindings_in(
        "approval",
        approve_once=("y", "allow it, this once"),
        approve_session=("s", "allow it for this session"),
        approve_always=("a", "always allow it in this folder"),
        approve_no=("n", "do not allow it"),
        approve_rule=("e", "change the rule it would become"),
    ),
}


def bindings_from(overrides: Mapping[str, str | Sequence[str]]) -> Bindings:
    """The default keys, changed by the user's settings."""
    return Bindings(overrides, ACTIONS)
