"""A YAML file as a tree of nodes that know their lines, read with every limit in place.

Rules:

- Nothing is constructed from tags: the tree holds text, and the reader of a field decides what it must be.
- The events of the file are counted before the tree is built, so neither deep nesting nor aliases that multiply
  (each alias counts as everything it stands for) can cost more than the limits below.
- Whatever is wrong with the file as YAML is one finding: after it the rest cannot be understood.
"""

import re

import yaml

from sightline.flows.file._findings import Finding

SIZE_CAP = 1024 * 1024  # bytes
NODES_AT_MOST = 100_000  # with every alias counted as what it stands for
DEPTH_AT_MOST = 64

# The C loader is ten times faster, but a platform may lack it.
_LOADER: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_bare_template = re.compile(r"[:-]\s+\{\{")
_line_break = re.compile("\r\n|[\n\r\x85\u2028\u2029]")


class FlowDocument:
    """A flow file's text and its root node."""

    def __init__(self, text: str, root: yaml.Node) -> None:
        self.root = root
        self._lines = _line_break.split(text)

    def locate(self, node: yaml.Node, fragment: str, occurrence: int) -> tuple[int, int]:
        """Line and column of the n-th (from 0) place in a node's text that reads like `fragment`.

        Where the text was folded or escaped it may not be found as such; then it is the node's own place.
        """
        first, last = node.start_mark.line, node.end_mark.line
        for number in range(first, min(last + 1, len(self._lines))):
            line = self._lines[number]
            column = line.find(fragment, node.start_mark.column if number == first else 0)
            while column >= 0:
                if occurrence == 0:
                    return number + 1, column + 1
                occurrence -= 1
                column = line.find(fragment, column + len(fragment))
        return place(node)


def place(node: yaml.Node) -> tuple[int, int]:
    """Line and column of a node, from 1."""
    return node.start_mark.line + 1, node.start_mark.column + 1


def read_document(data: bytes) -> FlowDocument | Finding:
    """The tree of a file's bytes, or the one thing that makes them unreadable."""
    if len(data) > SIZE_CAP:
        return Finding(
            1, 1, "the file is larger than 1 MB", "move long prompts into files and name them with prompt_file"
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - (data.rfind(b"\n", 0, error.start) + 1) + 1
        return Finding(line, column, "the file is not UTF-8 text", "save it as UTF-8")
    try:
        too_much = _too_much(text)
        root = None if too_much else yaml.compose(text, Loader=_LOADER)
    except yaml.YAMLError as error:
        return _syntax_finding(error, text)
    if too_much:
        return too_much
    if root is None:
        return Finding(1, 1, "the file is empty", "a flow needs a name and steps")
    return FlowDocument(text, root)


def _too_much(text: str) -> Finding | None:
    """Whether the tree would be deeper or larger than anyone can mean, found out without building it."""
    total = depth = 0
    started: list[tuple[str | None, int]] = []  # anchor of each open collection, and the total when it began
    weights: dict[str, int] = {}
    for event in yaml.parse(text, Loader=_LOADER):
        line, column = place(event)
        if isinstance(event, yaml.AliasEvent):
            if any(anchor == event.anchor for anchor, _ in started):
                return Finding(line, column, f"*{event.anchor} refers to itself", "remove the alias")
            total += weights.get(event.anchor or "", 1)
        elif isinstance(event, yaml.NodeEvent):
            total += 1
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
                started.append((event.anchor, total - 1))
            elif event.anchor:
                weights[event.anchor] = 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
            anchor, before = started.pop()
            if anchor:
                weights[anchor] = total - before
        if depth > DEPTH_AT_MOST:
            return Finding(line, column, f"nested deeper than {DEPTH_AT_MOST} levels", "flatten it")
        if total > NODES_AT_MOST:
            return Finding(
                line, column, f"more than {NODES_AT_MOST} values, aliases counted", "remove aliases of aliases"
            )
    return None


def _syntax_finding(error: yaml.YAMLError, text: str) -> Finding:
    if isinstance(error, yaml.reader.ReaderError):
        before = _line_break.split(text[: error.position])
        return Finding(len(before), len(before[-1]) + 1, "a control character that YAML does not allow", "remove it")
    problem = getattr(error, "problem", None) or "not valid YAML"
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    line, column = (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
    # A mark at the end of the file may lie one line behind the last one, where there is nothing to look at.
    line = min(line, len(_line_break.split(text.rstrip("\n"))))
    return Finding(line, column, f"not valid YAML: {problem}", _syntax_hint(problem, text, line))


def _syntax_hint(problem: str, text: str, line: int) -> str:
    source = _line_break.split(text)[line - 1]
    if "\t" in source[: len(source) - len(source.lstrip())]:
        return "indent with spaces; YAML does not allow tabs there"
    if _bare_template.search(source):
        return 'put quotes around a value that begins with {{: "{{ … }}"'
    if "mapping values are not allowed" in problem:
        return "put quotes around a value that contains a colon and a space"
    if "another document" in problem:
        return "a file holds one flow; remove the --- line"
    if "undefined alias" in problem:
        return "put quotes around a value that begins with *"
    return "check the indentation and the quotes of this line and the previous one"
