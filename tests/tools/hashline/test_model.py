"""Random edits through the program and through an independent model of the language."""

import random
from collections import Counter
from pathlib import Path

import pytest

from sightline.tools import ToolError
from sightline.tools.hashline import FileText, PatchTarget, Snapshots, merge, parse, patch, refuse_overlaps
from sightline.tools.hashline import _messages as messages

from . import model

EDITS = 10_000
SEEDS = 20
ALPHABET = ["a", "b", "c", "d", "", "  e", "f {", "}", "g h", "x", "y", "z"]
KINDS = ["apply_patch_sentinel", "backwards_range", "bare_number", "bare_range", "bracketed_header", "delete_with_body"]
KINDS += ["empty_body", "malformed_header", "malformed_tag", "minus_row", "mismatch", "missing_header", "missing_tag"]
KINDS += ["no_change", "not_shown", "out_of_range", "overlap", "stray_payload", "two_tags", "unified_diff_header"]
KINDS += ["unresolved_block"]
WARNINGS = {
    messages.BARE_BODY_AUTO_PIPED_WARNING: "bare",
    messages.RECOVERY_EXTERNAL_WARNING: "external",
    messages.RECOVERY_SHOWN_WARNING: "external",
    messages.RECOVERY_SESSION_CHAIN_WARNING: "chain",
    messages.RECOVERY_SESSION_REPLAY_WARNING: "replay",
}


class Session:
    """The program's side: files as text with their line ends, and the tags given out."""

    def __init__(self, chance, files):
        self.snapshots = Snapshots()
        self.ending = {path: chance.choice(["\n", "\r\n"]) for path in files}
        self.last = {path: chance.choice(["", self.ending[path]]) for path in files}
        self.marked = {path: chance.random() < 0.2 for path in files}
        self.texts = {path: self.whole(path, file.texts) for path, file in files.items()}

    def whole(self, path, lines):
        """The text a list of lines should be: the last line ends as the last line before did."""
        mark, end = "\ufeff" if self.marked[path] else "", self.ending[path]
        if not lines or not lines[-1]:
            self.last[path] = end
        whole = end.join(lines) + (self.last[path] if lines else "")
        if "\n" not in whole:  # how lines end here is not known any more
            self.ending[path] = "\n"
            self.last[path] = self.last[path] and "\n"
        return mark + whole

    def edit(self, text):
        sections = parse(text)
        merged = merge(sections, [section.path for section in sections])
        for section in merged:
            refuse_overlaps(section.hunks)
        done = []
        for section in merged:
            file = FileText.of(self.texts[section.path])
            target = PatchTarget(
                Path("/") / section.path, section.path, file, lambda lines: lambda n: model.blocks(list(lines), n)
            )
            done.append((section.path, patch(section, target, self.snapshots)))
        warnings = []
        for path, result in done:
            self.texts[path] = result.text.render()
            self.snapshots.record_whole(Path("/") / path, FileText.of(self.texts[path]).lines, result.step)
            warnings += [WARNINGS[warning] for warning in result.warnings]
        return [path for path, _ in done], warnings


def random_patch(chance, files):
    rows = ["*** Begin Patch"] if chance.random() < 0.05 else []
    for path in chance.sample(sorted(files), chance.choice([1, 1, 1, 2])):
        rows += random_section(chance, path, files[path])
    if chance.random() < 0.04:
        rows += random_section(chance, path, files[path])
    if chance.random() < 0.06:
        rows.insert(chance.randrange(len(rows) + 1), chance.choice(SLIPS))
    return "\n".join(rows) + chance.choice(["", "\n", "\n*** End Patch", "\n\n", "\r\n"])


def random_section(chance, path, file):
    tags = list(file.tags) or ["0000"]
    newest = tags[-1] if chance.random() < 0.5 else chance.choice(tags)
    tag = newest if chance.random() < 0.95 else chance.choice(["0000", "ZZZZ", newest.lower(), None])
    rows = [f"¶{path}" if tag is None else f"¶{path}#{tag}"]
    for _ in range(chance.choice([1, 1, 1, 2, 2, 3, 4])):
        rows += random_hunk(chance, max(1, len(file.texts)))
    return rows


def random_hunk(chance, count):
    first = chance.randint(1, count) if chance.random() < 0.97 else chance.choice([0, count + 1, 10**12])
    last = (
        min(first + chance.choice([0, 0, 1, 2, 5]), count)
        if chance.random() < 0.97
        else max(0, first + chance.randint(-2, 9))
    )
    span = f"{first}{chance.choice(['..', '..', '-', '…', ' ', ' .. '])}{last}"
    colon = ":" if chance.random() < 0.9 else ""
    operation = chance.choice(
        [f"replace {span}{colon}"] * 4
        + [f"delete {span}"] * 3
        + [f"insert before {first}{colon}", f"insert after {first}{colon}"] * 2
        + [f"replace {first}{colon}", f"delete {first}", f"insert head{colon}", f"insert tail{colon}"]
        + [f"replace block {first}{colon}", f"delete block {first}", f"insert after block {first}{colon}"]
        + [f"delete {span}:"] * (chance.random() < 0.1)
    )
    if operation.startswith("delete") and chance.random() < 0.98:
        return [operation]
    body = [f"+{chance.choice(ALPHABET)}" for _ in range(chance.choice([1, 1, 2, 3]))]
    if chance.random() < 0.06:
        body[chance.randrange(len(body))] = chance.choice(["bare row", "  indented", "", "++", "+-x"])
    return [operation, *body] if chance.random() < 0.98 else [operation]


SLIPS = ["- x", "@@ -1,2 +1,2 @@", "@@ fn @@", "*** Update File: a", "*** Abort", "3", "3 4", "3..4", "insert 3:", ""]
SLIPS += ["replace 1: x", "delete", "words", "+row", "replace block 1..2:", "*** Move to: b"]


def change_from_outside(chance, file, counter):
    """Somebody else's change; its lines are like no others, so that no earlier state comes back."""
    lines = list(file.states[-1])
    for _ in range(chance.choice([1, 1, 2])):
        place = chance.randint(0, len(lines))
        lines[place : place + chance.choice([0, 0, 1])] = [model.Line(f"outside {next(counter)}")]
    file.advance(lines, own=False)


def show(chance, path, file, session):
    """What read and search do: give out a tag for the file as it is, or for some of its lines."""
    texts = file.texts
    if chance.random() < 0.15 and texts:
        first = chance.randrange(len(texts))
        part = {n + 1: texts[n] for n in range(first, min(len(texts), first + 6))}
        file.tags[session.snapshots.record_lines(Path("/") / path, part)] = part
    else:
        tag = session.snapshots.record(Path("/") / path, session.texts[path])
        file.tags.pop(tag, None)
        file.tags[tag] = texts


def run_session(chance, tally):
    files = {
        name: model.File([chance.choice(ALPHABET) for _ in range(chance.choice([0, 1, 3, 6, 12, 20]))])
        for name in ("one.txt", "two.txt")
    }
    session = Session(chance, files)
    for path, file in files.items():
        show(chance, path, file, session)
    for _ in range(6):
        for path, file in files.items():
            if chance.random() < 0.2:
                change_from_outside(chance, file, model.fresh)
                session.texts[path] = session.whole(path, file.texts)
                if chance.random() < 0.4:
                    show(chance, path, file, session)
        edit_both(random_patch(chance, files), files, session, tally)


def edit_both(text, files, session, tally):
    before = dict(session.texts)
    try:
        expected = model.edit(files, text)
    except model.Error as error:
        expected = error.args[0]
    try:
        got = session.edit(text)
    except ToolError as error:
        got = error.kind
    assert got == expected, f"{text!r}\n{before}"
    if isinstance(got, str):
        assert session.texts == before
        tally[got] += 1
        if got == "mismatch":  # the error gives out the tag of what the file is now
            for path, file in files.items():
                for section in parse(text):
                    if section.path == path:
                        note_given(path, file, session)
        return
    tally.update(got[1] or ["plain"])
    for path, file in files.items():
        assert session.texts[path] == session.whole(path, file.texts), f"{text!r}\n{before}"
        if path in got[0]:
            note_given(path, file, session)


def note_given(path, file, session):
    version = session.snapshots.of_digest(Path("/") / path, digest(file.texts))
    if version is not None:
        file.tags.pop(version.tag, None)
        file.tags[version.tag] = file.texts


def digest(texts):
    from sightline.tools.hashline._snapshots import digest_of

    return digest_of(texts)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_random_edits_come_to_what_the_model_says(seed):
    """The same text, byte for byte, and the same warnings; or the same mistake, and nothing changed."""
    chance, tally = random.Random(seed), Counter()
    while sum(tally.values()) < EDITS // SEEDS:
        run_session(chance, tally)
    assert tally["plain"] > 50


def test_the_random_edits_reach_every_outcome():
    """A comparison that never comes to a mistake or a recovery shows nothing about it."""
    chance, tally = random.Random(1), Counter()
    for _ in range(700):
        run_session(chance, tally)
    wanted = {"plain", *WARNINGS.values(), *KINDS}
    assert wanted <= set(tally)
