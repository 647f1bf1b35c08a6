"""Where the constructs of a source file begin and end, from its parse tree.

Rules:

- The parsers are the extra `code`: tree-sitter and its grammars, imported when first needed. Without them, and for a
  language there is no grammar for, nothing is known: `block_at` is None, `outline` is empty.
- A block is the largest syntactic node that begins on a line as its first token. A decorated definition begins at its
  first decorator, where the grammar says so; a comment is a node of its own.
- Line numbers count from 1, as everywhere in the tools.
"""

from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

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
    {
        "function_definition",  # Python, C, C++, Bash, PHP
        "function_declaration",  # JavaScript, TypeScript, Go
        "generator_function_declaration",
        "function_expression",
        "arrow_function",
        "method_definition",
        "function_item",  # Rust
        "method_declaration",  # Go, Java, C#, PHP
        "constructor_declaration",
        "local_function_statement",
        "method",  # Ruby
        "singleton_method",
        "lambda_expression",
        "func_literal",
        "closure_expression",
        "rule_set",  # CSS
        "enum_item",
        "enum_declaration",
    }
)


def language_of(path: PurePath | str) -> str | None:
    """The name of the language a file is parsed as; None when there is no grammar for it."""
    grammar = _GRAMMARS.get(PurePath(path).suffix.lower())
    return None if grammar is None else grammar[0].removeprefix("tree_sitter_")


def missing_hint(path: PurePath | str) -> str:
    """What to do so that blocks of this file can be found; "" when nothing would help."""
    grammar = _GRAMMARS.get(PurePath(path).suffix.lower())
    return INSTALL_HINT if grammar is not None and _language(*grammar) is None else ""


def block_at(text: str, path: PurePath | str, line: int) -> tuple[int, int] | None:
    """The first and last line of the block that begins on a line."""
    lines = text.split("\n")
    if not 1 <= line <= len(lines) or _opens_nothing(lines[line - 1]):
        return None
    tree = _tree(text, path)
    if tree is None:
        return None
    row = line - 1
    column = len(lines[row].encode("utf-8", "replace")) - len(lines[row].lstrip().encode("utf-8", "replace"))
    node = _largest_at(tree.root_node, row, column)
    if node is None or node.has_error or _shares_its_end(node, lines):
        return None
    return line, _last_row(node) + 1


def _opens_nothing(line: str) -> bool:
    bare = line.strip()
    return not bare or bare.startswith(_CLOSING)


def _largest_at(root: "Node", row: int, column: int) -> "Node | None":
    """The largest node that begins exactly here; the whole file is none."""
    node: Node | None = root.descendant_for_point_range((row, column), (row, column))
    found: Node | None = None
    while node is not None and node.parent is not None:
        if _begins_at(node, row, column) and node.is_named and not _is_sequence(node):
            found = node
        node = node.parent
    return found


def _is_sequence(node: "Node") -> bool:
    # With a delimiter of its own before the first statement it is a construct like any other.
    return node.type in _SEQUENCES and node.child_count > 0 and node.children[0].is_named


def _begins_at(node: "Node", row: int, column: int) -> bool:
    return node.start_point.row == row and node.start_point.column == column


def _last_row(node: "Node") -> int:
    """Some grammars count the line end after a node into it."""
    end = node.end_point
    return end.row - 1 if end.column == 0 and end.row > node.start_point.row else end.row


def _shares_its_end(node: "Node", lines: list[str]) -> bool:
    """Whether something else begins on its last line: whole lines would take that along."""
    end = node.end_point
    if end.column == 0 or end.row >= len(lines):
        return False
    rest = lines[end.row].encode("utf-8", "replace")[end.column :].decode("utf-8", "replace").strip()
    return not rest.startswith(_COMMENTS) and any(letter.isalnum() for letter in rest)


def outline(text: str, path: PurePath | str) -> list[tuple[int, int]]:
    """The first and last lines of what a summary leaves out: bodies of definitions, not the definitions in them.

    Spans are in the order of the file and do not overlap. A class keeps its members' first lines; what is inside a
    function is left out with it.
    """
    tree = _tree(text, path)
    return [] if tree is None else list(_bodies(tree.root_node))


def _bodies(root: "Node") -> Iterator[tuple[int, int]]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type in _HOLDS_CODE and (span := _inside(node)) is not None:
            yield span
        else:
            waiting.extend(reversed(node.named_children))


def _inside(node: "Node") -> tuple[int, int] | None:
    """The lines of a function's body without those of its delimiters; None when it has none or it is short."""
    body = node.child_by_field_name("body") or _block_child(node)
    if body is None:
        return None
    first, last = body.start_point.row, _last_row(body)
    if first == node.start_point.row or (body.child_count and body.children[0].type == "{"):
        first += 1
    if body.child_count and body.children[-1].type == "}":
        last -= 1
    return (first + 1, last + 1) if last - first + 1 >= MIN_BODY else None


def _block_child(node: "Node") -> "Node | None":
    kinds = ("block", "body_statement", "compound_statement")
    return next((child for child in node.named_children if child.type in kinds), None)


def _tree(text: str, path: PurePath | str) -> "Tree | None":
    grammar = _GRAMMARS.get(PurePath(path).suffix.lower())
    if grammar is None or len(text) > MAX_BYTES:
        return None
    return _parsed(text, *grammar)


@lru_cache(maxsize=4)  # several blocks of one patch are asked for one after another
def _parsed(text: str, module: str, function: str) -> "Tree | None":
    language = _language(module, function)
    if language is None:
        return None
    tree: Tree = _module("tree_sitter").Parser(language).parse(text.encode("utf-8", "replace"))
    return tree


@lru_cache(maxsize=32)
def _language(module: str, function: str) -> Any:
    engine, grammar = _module("tree_sitter"), _module(module)
    return None if engine is None or grammar is None else engine.Language(getattr(grammar, function)())


def _module(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        return None
