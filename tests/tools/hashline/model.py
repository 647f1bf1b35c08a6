"""The hashline language once more, as simply as it can be said. Shares no code with the program.

A file is a list of lines. Each line also has an identity that survives edits which leave it alone, so that following a
line through edits is looking for it. What goes wrong is an `Error` with the name of the mistake.
"""

import itertools
import re

fresh = itertools.count()


class Error(Exception):
    pass


class Line:
    def __init__(self, text):
        self.text = text
        self.id = next(fresh)


class File:
    """A file and what the session knows of it: states in the order they came about, and tags."""

    def __init__(self, texts):
        self.states = [[Line(text) for text in texts]]
        self.own = [False]  # whether an edit of ours made this state from the one before
        self.tags = {}  # tag: list of texts, or a dict of those shown

    @property
    def texts(self):
        return [line.text for line in self.states[-1]]

    def advance(self, lines, *, own):
        self.states.append(lines)
        self.own.append(own)


def blocks(texts, number):
    """A toy grammar: a line that ends in `{` opens a block that ends at the first `}` line below, of the same depth."""
    if not texts[number - 1].endswith("{"):
        return None
    depth = 0
    for place in range(number - 1, len(texts)):
        depth += texts[place].endswith("{") - (texts[place] == "}")
        if depth == 0:
            return number, place + 1
    return None


def parse(patch):
    """[(path, tag, hunks, warned)]; a hunk is a dict."""
    sections, hunk, blanks = [], None, []

    def close():
        if hunk and hunk["verb"] != "delete" and not hunk["body"]:
            raise Error("empty_body")

    for at, raw in enumerate(patch.split("\n"), 1):
        line = raw.rstrip("\r")
        bare = line.strip()
        if line[:1] != "+" and bare in ("*** Begin Patch", "*** End Patch"):
            continue
        if line[:1] != "+" and bare == "*** Abort":
            break
        if line[:1] != "+" and not bare:
            blanks.append(line)
            continue
        if bare[:1] == "¶" and line[:1] != "+":
            close()
            hunk, blanks = None, []
            sections.append(section(bare))
            continue
        if not sections:
            raise Error("missing_header")
        kind, value = ("body", line[1:]) if line[:1] == "+" else classify(line, bare)
        if kind == "hunk":
            close()
            hunk, blanks = value, []
            hunk["at"] = at
            if hunk["last"] < hunk["first"]:
                raise Error("backwards_range")
            if hunk["verb"] == "delete" and hunk["colon"]:
                raise Error("delete_with_body")
            sections[-1]["hunks"].append(hunk)
        elif kind in ("body", "text"):
            if hunk is None:
                raise Error("stray_payload")
            if hunk["verb"] == "delete":
                raise Error("delete_with_body")
            if blanks or kind == "text":
                sections[-1]["warned"] = True
            hunk["body"] += [*blanks, value]
            blanks = []
        else:
            raise Error(kind)
    close()
    if not sections:
        raise Error("missing_header")
    for one in sections:
        if not one["hunks"]:
            raise Error("no_operations")
    return sections


def section(bare):
    path, _, tag = bare[1:].rpartition("#")
    if not path:
        return {"path": bare[1:], "tag": None, "hunks": [], "warned": False}
    if len(tag) != 4 or any(letter not in "0123456789abcdefABCDEF" for letter in tag):
        raise Error("malformed_tag")
    return {"path": path, "tag": tag.upper(), "hunks": [], "warned": False}


def classify(line, bare):
    if line.startswith("-"):
        return "minus_row", None
    if bare.startswith("@@"):
        return ("unified_diff_header" if re.match(r"@@ -\d+,\d+ \+\d+,\d+ @@", bare) else "bracketed_header"), None
    if bare.startswith(("*** Update File:", "*** Add File:", "*** Delete File:", "*** Move to:")):
        return "apply_patch_sentinel", None
    head, colon, rest = bare.partition(":")
    words = head.replace("..", " ").replace("…", " ").replace("-", " ").split()
    numbers = [int(word) for word in words if word.isdigit()]
    names = [word for word in words if not word.isdigit()]
    verb = {
        ("replace",): "replace", ("replace", "block"): "replace", ("delete",): "delete", ("delete", "block"): "delete",
        ("insert", "before"): "before", ("insert", "after"): "after", ("insert", "after", "block"): "after",
        ("insert", "head"): "head", ("insert", "tail"): "tail",
    }.get(tuple(names))  # fmt: skip
    most = {"head": 0, "tail": 0, "before": 1, "after": 1}.get(verb, 1 if "block" in names else 2)
    least = min(most, 1)
    if verb and words[: len(names)] == names and least <= len(numbers) <= most:
        if rest:
            return "malformed_header", None
        first = numbers[0] if numbers else 0
        last = numbers[-1] if numbers else 0
        return "hunk", {
            "verb": verb, "block": "block" in names, "first": first, "last": last, "body": [], "colon": bool(colon)
        }  # fmt: skip
    if not names and not rest and numbers:
        return {1: "bare_number", 2: "bare_range"}.get(len(numbers), "text"), line
    slip = {"replace", "delete", "insert", "block", "before", "after", "head", "tail", "at", "line", "lines"}
    if names and names[0] in ("replace", "delete", "insert") and set(names) <= slip and not rest:
        return "malformed_header", None
    return "text", line


def edit(files, patch):
    """Apply a patch to `{path: File}`: the paths changed and the warnings, or Error and nothing changed."""
    merged = {}
    for one in parse(patch):
        first = merged.setdefault(one["path"], one)
        if first is not one:
            if first["tag"] != one["tag"]:
                raise Error("two_tags")
            first["hunks"] += one["hunks"]
            first["warned"] |= one["warned"]
    for one in merged.values():
        plain = [h for h in one["hunks"] if not h["block"] and h["verb"] not in ("head", "tail")]
        overlaps([places(h, h["first"], h["last"], 0) for h in plain])
    results = []
    for path, one in merged.items():
        results.append((path, *patched(files[path], one)))
    warnings = []
    for path, lines, said in results:
        files[path].advance(lines, own=True)
        warnings += said
    return [path for path, _, _ in results], warnings


def places(hunk, first, last, count):
    """The gap or lines a hunk is about: `(start, stop)` counted in gaps, gap 0 being before the first line."""
    return {
        "replace": (first - 1, last), "delete": (first - 1, last), "before": (first - 1, first - 1),
        "after": (last, last), "head": (0, 0), "tail": (count, count),
    }[hunk["verb"]]  # fmt: skip


def overlaps(spans):
    for one, other in itertools.permutations(spans, 2):
        (a, b), (c, d) = one, other
        if a < b and c < d and max(a, c) < min(b, d):
            raise Error("overlap")
        if a < b and c == d and a < c < b:
            raise Error("overlap")


def located(hunks, texts):
    """[(hunk, (start, stop))] in a state of the file."""
    found = []
    # The program looks at hunks one after another: the first mistake is the one that is told.
    for hunk in hunks:
        first, last = hunk["first"], hunk["last"]
        if hunk["verb"] not in ("head", "tail") and not (first >= 1 and last <= len(texts)):
            raise Error("out_of_range")
        if hunk["block"]:
            block = blocks(texts, first)
            if block is None:
                raise Error("unresolved_block")
            first, last = block
        found.append((hunk, places(hunk, first, last, len(texts))))
    overlaps([span for _, span in found])
    return found


def patched(file, one):
    lines, texts = file.states[-1], file.texts
    said = ["bare"] if one["warned"] else []
    if one["tag"] is None:
        raise Error("missing_tag")
    known = file.tags.get(one["tag"])
    if known is None:
        raise Error("mismatch")
    if isinstance(known, dict):
        if not all(number <= len(texts) and texts[number - 1] == text for number, text in known.items()):
            raise Error("mismatch")
        spans = located(one["hunks"], texts)
        for hunk in one["hunks"]:
            for number in range(hunk["first"], hunk["last"] + 1):
                shown = any(isinstance(t, dict) and t.get(number) == texts[number - 1] for t in file.tags.values())
                if hunk["verb"] not in ("head", "tail") and not shown:
                    raise Error("not_shown")
    elif known == texts:
        spans = located(one["hunks"], texts)
    else:
        spans, warning = recovered(file, known, one["hunks"])
        said.append(warning)
    result = rebuilt(lines, spans)
    if [line.text for line in result] == texts:
        raise Error("no_change")
    return result, said


def rebuilt(lines, spans):
    """Walk the gaps: what is inserted in each, then the line after it unless a hunk takes its place."""
    rank = {"head": 0, "after": 1, "before": 2, "replace": 3, "delete": 3, "tail": 4}
    spans = sorted(spans, key=lambda span: (span[1][0], rank[span[0]["verb"]], span[0]["at"]))
    regions = []  # touching hunks are one region
    for hunk, (start, stop) in spans:
        if regions and regions[-1][1] == start:
            regions[-1][1], regions[-1][2] = stop, regions[-1][2] + hunk["body"]
        else:
            regions.append([start, stop, list(hunk["body"])])
    result, place = [], 0
    for start, stop, body in regions:
        result += lines[place:start]
        old = lines[start:stop]
        head, tail = [], []
        while old and body and old[0].text == body[0]:
            head.append(old.pop(0))
            body.pop(0)
        while old and body and old[-1].text == body[-1]:
            tail.insert(0, old.pop())
            body.pop()
        result += head + [Line(text) for text in body] + tail
        place = stop
    return result + lines[place:]


def recovered(file, known, hunks):
    try:
        spans = located(hunks, known)
    except Error as error:
        if error.args[0] == "overlap":
            raise
        raise Error("mismatch") from error
    rank = {"head": 0, "after": 1, "before": 2, "replace": 3, "delete": 3, "tail": 4}
    spans.sort(key=lambda span: (span[1][0], rank[span[0]["verb"]], span[0]["at"]))
    found = ordered([(hunk, surrounded(hunk, span, known, file.texts)) for hunk, span in spans])
    since = max(n for n, state in enumerate(file.states) if [line.text for line in state] == known)
    if not all(file.own[since + 1 :]):
        if found is None:
            raise Error("mismatch")
        return found, "external"
    followed = ordered([(hunk, follow(span, file.states[since:])) for hunk, span in spans])
    if followed is None:
        raise Error("mismatch")
    return followed, "chain" if found == followed else "replay"


def ordered(spans):
    if any(span is None for _, span in spans):
        return None
    for (_, one), (_, other) in itertools.pairwise(spans):
        if other[0] < one[1]:
            return None
    return spans


def surrounded(hunk, span, old, new):
    start, stop = span
    context = 3
    while True:
        low, high = max(0, start - context), min(len(old), stop + context)
        window = old[low:high]
        here = [n for n in range(len(old)) if window and old[n : n + len(window)] == window]
        there = [n for n in range(len(new)) if window and new[n : n + len(window)] == window]
        if not there:
            return None
        if len(here) == len(there) == 1:
            moved = start - low + there[0], stop - low + there[0]
            if hunk["verb"] == "head" and moved[0] != 0:
                return None
            if hunk["verb"] == "tail" and moved[1] != len(new):
                return None
            return moved
        if (low, high) == (0, len(old)):
            return None
        context *= 2


def follow(span, states):
    """By identity: the lines must still stand together; of a gap the lines on both sides must still touch."""
    start, stop = span
    for before, after in itertools.pairwise(states):
        ids = [line.id for line in after]
        if start < stop:
            wanted = [line.id for line in before[start:stop]]
            at = ids.index(wanted[0]) if wanted[0] in ids else -1
            if at < 0 or ids[at : at + len(wanted)] != wanted:
                return None
            start, stop = at, at + len(wanted)
        else:
            left = before[start - 1].id if start > 0 else "start"
            right = before[start].id if start < len(before) else "end"
            walls = ["start", *ids, "end"]
            if left not in walls or walls[walls.index(left) + 1] != right:
                return None
            start = stop = walls.index(left)
    return start, stop
