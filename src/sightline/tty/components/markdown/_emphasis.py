"""Which marks of emphasis belong together: CommonMark's delimiter runs."""

import unicodedata

_ROLES = {"*": ("emphasis", "strong"), "_": ("emphasis", "strong"), "~": ("strike", "strike")}


class EmphasisNode:
    """A piece of a paragraph, from `at` on: what ends before it, its text, what begins after it."""

    # Most pieces are plain text and have nothing of this: defaults of the class cost them nothing.
    role = url = mark = ""
    closes = 0  # styles that end before the text
    closing = 0  # and behind it
    opens: tuple[tuple[str, str], ...] = ()  # role and address of the styles that begin behind it, outermost first
    size = left = order = 0
    can_open = can_close = False
    plain = False  # no mark of any kind

    def __init__(self, text: str, at: int) -> None:
        self.text = text
        self.at = at


def delimiter(text: str, at: int, before: str, after: str) -> EmphasisNode:
    """A run of marks, with what it may do by CommonMark's flanking rules."""
    node = EmphasisNode(text, at)
    node.size = node.left = len(text)
    if text[0] == "~" and len(text) != 2:  # `~` alone is most often "about"
        return node
    node.mark = text[0]
    space_before, space_after = _blank(before), _blank(after)
    punctuation_before, punctuation_after = _punctuation(before), _punctuation(after)
    left = not space_after and (not punctuation_after or space_before or punctuation_before)
    right = not space_before and (not punctuation_before or space_after or punctuation_after)
    if text[0] == "_":
        node.can_open = left and (not right or punctuation_before)
        node.can_close = right and (not left or punctuation_after)
    else:
        node.can_open, node.can_close = left, right
    return node


def _blank(char: str) -> bool:
    return not char or char.isspace()


def _punctuation(char: str) -> bool:
    return bool(char) and not char.isalnum() and unicodedata.category(char)[0] in "PS"


class Delimiters:
    """The runs not yet paired, in order."""

    def __init__(self) -> None:
        self._nodes: list[EmphasisNode] = []
        self._count = 0

    def __len__(self) -> int:
        return len(self._nodes)

    def add(self, node: EmphasisNode) -> None:
        if node.mark:
            self._count += 1
            node.order = self._count
            self._nodes.append(node)

    def drop(self, bottom: int) -> None:
        """What was not paired above `bottom` is text for good."""
        del self._nodes[bottom:]

    def first_open(self) -> int | None:
        """Where the first run stands that a later one could still close."""
        return next((node.at for node in self._nodes if node.can_open), None)

    def pair(self, bottom: int) -> None:
        """Pair every closer above `bottom` with the nearest opener that fits."""
        nodes = self._nodes
        floors: dict[tuple[str, bool, int], int] = {}  # below this order no opener fits such a closer
        at = bottom
        while at < len(nodes):
            closer = nodes[at]
            key = (closer.mark, closer.can_open, closer.size % 3)
            opener = _opener(nodes, bottom, at, floors.get(key, 0)) if closer.can_close else None
            if opener is None:
                if closer.can_close:
                    floors[key] = closer.order
                at += 1
                continue
            _join(nodes[opener], closer)
            del nodes[opener + 1 : at]
            at = opener + 1
            if not nodes[opener].left:
                del nodes[opener]
                at -= 1
            if not closer.left:
                del nodes[at]


def _opener(nodes: list[EmphasisNode], bottom: int, at: int, floor: int) -> int | None:
    closer = nodes[at]
    for index in range(at - 1, bottom - 1, -1):
        node = nodes[index]
        if node.order < floor:
            return None
        if node.mark == closer.mark and node.can_open and not _odd(node, closer):
            return index
    return None


def _odd(opener: EmphasisNode, closer: EmphasisNode) -> bool:
    """The rule of three: `**a*` and `*a**` do not pair where one of the runs could do both."""
    if not (opener.can_close or closer.can_open):
        return False
    return (opener.size + closer.size) % 3 == 0 and not (opener.size % 3 == 0 and closer.size % 3 == 0)


def _join(opener: EmphasisNode, closer: EmphasisNode) -> None:
    used = 2 if opener.left >= 2 and closer.left >= 2 else 1
    opener.opens = ((_ROLES[closer.mark][used - 1], ""), *opener.opens)
    closer.closes += 1
    for node in (opener, closer):
        node.left -= used
        node.text = node.mark * node.left
