"""Tool calls of chat completions, whole or fragment by fragment."""

import msgspec

from sightline.chat_completions import CallFragment, ChatFunctionCall, continues
from sightline.events import ToolUse
from sightline.providers._preview import preview
from sightline.providers._source import LINE_CAP, is_suspect
from sightline.text import StreamFilter, clean_line, clean_value

_NAME_CAP = 200

# There is no fixed set of tools behind this API: these are the names that agents and tutorials commonly give to the
# equivalents of the well-known ones.
_COMMON_NAMES = {
    native: common
    for common, natives in {
        "Read": "read read_file view_file open_file",
        "Write": "write write_file create_file",
        "Edit": "edit edit_file replace apply_patch str_replace multi_edit",
        "Bash": "bash shell run_command execute_command run_shell_command exec_command execute_bash terminal",
        "Grep": "grep grep_search search_files search_file_content",
        "Glob": "glob find_files file_search",
        "Task": "task agent spawn_agent invoke_agent",
        "WebFetch": "webfetch web_fetch fetch_url",
        "WebSearch": "websearch web_search google_web_search",
        "Todo": "todo todowrite todo_write write_todos update_plan",
    }.items()
    for native in natives.split()
}


class CallInProgress:
    """One call whose arguments are still arriving. `index` and `native_id` tie its fragments together."""

    __slots__ = ("_filter", "_pieces", "_size", "_whole", "id", "index", "name", "native_id", "native_name")

    def __init__(self, ident: str, index: object) -> None:
        self.id = ident
        self.index = index
        self.native_id = ""
        self.native_name = ""
        self.name = ""
        self._whole: object = None  # arguments a server sent as an object instead of a JSON text
        self._pieces: list[str] = []
        self._size = 0
        self._filter: StreamFilter | None = None  # once a piece needs it

    def takes(self, fragment: CallFragment) -> bool:
        """Whether a fragment belongs to this call."""
        return fragment.index in (self.index, None) and continues(fragment, self)

    def add(self, fragment: CallFragment) -> str:
        """Take a fragment in; returns the new piece of the arguments' text, filtered."""
        if fragment.id and not self.native_id:
            self.native_id = fragment.id if isinstance(fragment.id, str) else ""
        function = fragment.function or fragment.custom
        if function is None:
            return ""
        if function.name and not self.native_name:
            self.native_name = _one_line(function.name)[:_NAME_CAP]
            self.name = common_name(self.native_name)
        piece = function.input if function.arguments is None else function.arguments
        if not isinstance(piece, str):
            self._whole = self._whole if piece is None else piece
            return ""
        self._size += len(piece)
        if piece and self._size <= LINE_CAP:
            self._pieces.append(piece)
        if self._filter is None:
            if piece.isprintable():
                return piece
            self._filter = StreamFilter()
        return self._filter.feed(piece)

    def is_blank(self) -> bool:
        """No arguments have come: none are needed, or the first fragment of them is still to come."""
        return not self._pieces and self._whole is None

    def is_complete(self) -> bool:
        """Whether the arguments are a whole JSON text as they are."""
        # The last character decides nearly always, which saves decoding long arguments over and over.
        if self._whole is None and self._pieces and not self._pieces[-1].rstrip().endswith(("}", "]")):
            return False
        return is_complete(self._arguments())

    def tool_use(self) -> ToolUse:
        return _tool_use(self.id, _one_line(self.native_id), self.native_name, self._arguments())

    def _arguments(self) -> object:
        if self._whole is not None:
            return self._whole
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""


def whole_call(ident: str, call: CallFragment) -> ToolUse:
    """A call that arrived in one piece."""
    function = call.function or call.custom or ChatFunctionCall()
    arguments = function.input if function.arguments is None else function.arguments
    return _tool_use(ident, _one_line(call.id), _one_line(function.name)[:_NAME_CAP], arguments)


def is_complete(arguments: object) -> bool:
    """Whether these are arguments, rather than the beginning of some."""
    return isinstance(_decoded(arguments) if isinstance(arguments, str) else arguments, (dict, list))


def common_name(native: str) -> str:
    return _COMMON_NAMES.get(native.lower(), native)


def _tool_use(ident: str, native_id: str, native_name: str, arguments: object) -> ToolUse:
    name = common_name(native_name) or "unknown"
    args = _args(arguments)
    arg = preview(args, name)
    if args is arguments or _needs_filter(arguments):
        args = clean_value(args)
    return ToolUse(ident, name, native_name, arg, args, native_id)


def _args(arguments: object) -> object:
    """The arguments as a value; a text that is not JSON stays the text that it is."""
    if not isinstance(arguments, str):
        return {} if arguments is None else arguments
    if not arguments or arguments.isspace():
        return {}
    value = _decoded(arguments)
    return arguments if value is _NOTHING else value


def _needs_filter(json_text: object) -> bool:
    try:
        return isinstance(json_text, str) and is_suspect(json_text.encode())
    except UnicodeEncodeError:  # half a character
        return True


_NOTHING = object()


def _decoded(text: str) -> object:
    """The value of a JSON text, or a value that equals nothing else."""
    try:
        return msgspec.json.decode(text)
    except (ValueError, RecursionError):
        pass
    import json

    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _NOTHING


def _one_line(value: object) -> str:
    return clean_line(value) if isinstance(value, str) else ""
