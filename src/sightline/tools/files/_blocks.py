"""Where the constructs of a source file begin and end, from its parse tree.

Rules:

- The parsers are the extra `code`: tree-sitter and its grammars, imported when first needed. Without them, and for a
  language there is no grammar for, nothing is known: `block_at` is None, `outline` is empty.
- A block is the largest syntactic node that begins on a line as its first token. A decorated definition begins at its
  first decorator, where the grammar has it so; a comment is a node of its own.
- Line numbers count from 1, as everywhere in the tools.
- Places are taken as bytes and counted into lines here. The points of tree-sitter 0.26.0 free what they do not own
  (py-tree-sitter issue 472): some hundred of them end the process.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module
from pathlib import PurePath
from types import ModuleType
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Tree

INSTALL_HINT = 'Blocks need the parsers of the extra `code`: pip install "sightline[code]".'
MAX_BYTES = 2 * 1024 * 1024  # a longer file is not parsed
MIN_BODY = 4  # lines of a body worth leaving out of an outline

# suffix: (module of the grammar, its language function)
_PYTHON = ("tree_sitter_python", "language")
_JAVASCRIPT = ("tree_sitter_javascript", "language")
_TYPESCRIPT = ("tree_sitter_typescript", "language_typescript")
_CPP = ("tree_sitter_cpp", "language")
_BASH = ("tree_sitter_bash", "language")
_HTML = ("tree_sitter_html", "language")
_GRAMMARS: dict[str, tuple[str, str]] = {
    **dict.fromkeys((".py", ".pyi", ".pyw"), _PYTHON),
    **dict.fromkeys((".js", ".jsx", ".mjs", ".cjs"), _JAVASCRIPT),
    **dict.fromkeys((".ts", ".mts", ".cts"), _TYPESCRIPT),
    ".tsx": ("tree_sitter_typescript", "language_tsx"),
    ".rs": ("tree_sitter_rust", "language"),
    ".go": ("tree_sitter_go", "language"),
    ".java": ("tree_sitter_java", "language"),
    ".c": ("tree_sitter_c", "language"),
    **dict.fromkeys((".h", ".hh", ".hpp", ".hxx", ".cc", ".cpp", ".cxx"), _CPP),
    **dict.fromkeys((".sh", ".bash"), _BASH),
    ".json": ("tree_sitter_json", "language"),
    **dict.fromkeys((".html", ".htm"), _HTML),
    ".css": ("tree_sitter_css", "language"),
    ".rb": ("tree_sitter_ruby", "language"),
    ".cs": ("tree_sitter_c_sharp", "language"),
    ".php": ("tree_sitter_php", "language_php"),
}
_CLOSING = (")", "]", "}", "</", "*/", "?>")
_COMMENTS = ("#", "//", "/*", "<!--")
# Nodes that only hold statements one after another: the first statement begins where they do, and is what is meant.
_SEQUENCES = frozenset({"block", "body_statement", "statement_list", "then", "program"})
# What a summary shows the first lines of, without the body.
_HOLDS_CODE = frozenset(
    {"function_definition"}  # Python, C, C++, Bash, PHP
    | {"function_declaration", "generator_function_declaration", "function_expression"}  # JavaScript, TypeScript, Go
    | {"arrow_function", "method_definition", "func_literal", "closure_expression", "lambda_expression"}
    | {"method_declaration", "constructor_declaration", "local_function_statement"}  # Go, Java, C#, PHP
    | {"function_item", "enum_item", "enum_declaration"}  # Rust, Java
    | {"method", "singleton_method", "rule_set"}  # Ruby, CSS
)


class _Source(msgspec.Struct, frozen=True):
    """A parsed text. Rows count from 0."""

    tree: "Tree"
    data: bytes
    starts: list[int]  # of its rows

    def row(self, place: int) -> int:
        return bisect_right(self.starts, place) - 1

    def first_row(self, node: "Node") -> int:
        return self.row(node.start_byte)

    def last_row(self, node: "Node") -> int:
        """Some grammars count the line end after a node into it."""
        row = self.row(node.end_byte)
        return row - 1 if self.starts[row] == node.end_byte and row > self.first_row(node) else row

    def rest_of_last_row(self, node: "Node") -> str:
        row = self.row(node.end_byte)
        if self.starts[row] == node.end_byte:
            return ""
        return self.data[node.end_byte :].partition(b"\n")[0].decode("utf-8", "replace").strip()


def missing_hint(path: PurePath | str) -> str:
    """What to do so that blocks of this file can be found; "" when nothing would help."""
    grammar = _GRAMMARS.get(PurePath(path).suffix.lower())
    return INSTALL_HINT if grammar is not None and _language(*grammar) is None else ""


def block_at(text: str, path: PurePath | str, line: int) -> tuple[int, int] | None:
    """The first and last line of the block that begins on a line."""
    lines = text.split("\n")
    if not 1 <= line <= len(lines) or _opens_nothing(lines[line - 1]):
        return None
    source = _parsed_source(text, path)
    if source is None:
        return None
    bare = lines[line - 1]
    place = source.starts[line - 1] + len(bare[: len(bare) - len(bare.lstrip())].encode())
    node = _largest_at(source.tree.root_node, place)
    if node is None or node.has_error or _shares_its_end(node, source):
        return None
    return line, source.last_row(node) + 1


def _opens_nothing(line: str) -> bool:
    bare = line.strip()
    return not bare or bare.startswith(_CLOSING)


def _largest_at(root: "Node", place: int) -> "Node | None":
    """The largest node that begins exactly here; the whole file is none."""
    node: Node | None = root.descendant_for_byte_range(place, place)
    found: Node | None = None
    while node is not None and node.parent is not None:
        if node.start_byte == place and node.is_named and not _is_sequence(node):
            found = node
        node = node.parent
    return found


def _is_sequence(node: "Node") -> bool:
    # With a delimiter of its own before the first statement it is a construct like any other.
    return node.type in _SEQUENCES and node.child_count > 0 and node.children[0].is_named


def _shares_its_end(node: "Node", source: _Source) -> bool:
    """Whether something else begins on its last line: whole lines would take that along."""
    rest = source.rest_of_last_row(node)
    return not rest.startswith(_COMMENTS) and any(letter.isalnum() for letter in rest)


def outline(text: str, path: PurePath | str) -> list[tuple[int, int]]:
    """The first and last lines of what a summary leaves out: bodies of definitions, not the definitions in them.

    Spans are in the order of the file and do not overlap. Of a class its members' first lines stay; what is inside a
    function is left out with it.
    """
    source = _parsed_source(text, path)
    return [] if source is None else list(_bodies(source))


def _bodies(source: _Source) -> Iterator[tuple[int, int]]:
    waiting: list[Node] = [source.tree.root_node]
    while waiting:
        node = waiting.pop()
        if node.type in _HOLDS_CODE and (span := _inside(node, source)) is not None:
            yield span
        else:
            waiting.extend(reversed(node.named_children))


def _inside(node: "Node", source: _Source) -> tuple[int, int] | None:
    """The lines of a function's body without those of its delimiters; None when it has none or it is short."""
    body = node.child_by_field_name("body") or _block_child(node)
    if body is None:
        return None
    first, last = source.first_row(body), source.last_row(body)
    if first == source.first_row(node) or (body.child_count and body.children[0].type == "{"):
        first += 1
    if body.child_count and body.children[-1].type == "}":
        last -= 1
    return (first + 1, last + 1) if last - first + 1 >= MIN_BODY else None


def _block_child(node: "Node") -> "Node | None":
    kinds = ("block", "body_statement", "compound_statement")
    return next((child for child in node.named_children if child.type in kinds), None)


def _parsed_source(text: str, path: PurePath | str) -> _Source | None:
    grammar = _GRAMMARS.get(PurePath(path).suffix.lower())
    if grammar is None or len(text) > MAX_BYTES:
        return None
    return _parsed(text, *grammar)


@lru_cache(maxsize=4)  # several blocks of one patch are looked up one after another
def _parsed(text: str, module: str, function: str) -> _Source | None:
    language, engine = _language(module, function), _module("tree_sitter")
    if language is None or engine is None:
        return None
    data = text.encode("utf-8", "replace")
    starts = [0, *(line_end.end() for line_end in re.finditer(rb"\n", data))]
    return _Source(engine.Parser(language).parse(data), data, starts)


@lru_cache(maxsize=32)
def _language(module: str, function: str) -> "Language | None":
    engine, grammar = _module("tree_sitter"), _module(module)
    return None if engine is None or grammar is None else engine.Language(getattr(grammar, function)())


def _module(name: str) -> ModuleType | None:
    try:
        return import_module(name)
    except ImportError:
        return None
