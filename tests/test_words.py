"""What users read is plain English: a list of phrasings that no text on screen, in help, errors, hints or docs has.

Checked are the string literals of the source (docstrings and comments are for readers of the code), the files of the
page, the guide, the reference and the README. Code in backticks is not prose.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "sightline"

# Each with what to write instead.
BANNED = {
    r"\bgo(?:es|ing|ne)? on with\b|\bwent on with\b": "resume",
    r"\b(?:some|no|any|every)body\b": "the user, a viewer, no one; or say who it is",
    r"\bwho(?:m)?ever\b": "the user, the caller; or say who it is",
    r"\bthe person\b|\ba person\b|\bperson's\b": "the user, you",
    r"\btold\b|\btelling\b": "reported, shown; the model reads",
    r"\bsaid\b": "shown, reported, written",
    r"\bkept\b": "stored",
    r"\bblanks\b|\ba blank\b(?! (?:line|row))": "space",
    r"\b(?:is|are|be|still) at it\b": "working",
    r"\blet(?:s|ting)? go\b": "release, delete, drop",
    r"\bmade short\b": "compacted",
    r"\banswers nothing\b": "does not answer",
    r"\bin (?:his|the person's|the user's) place\b": "for you",
    r"\bhand(?:s|ed|ing)? on\b": "forward",
    r"\bgiv(?:e|es|en) back\b|\bgave back\b": "return",
    r"\bfor want of\b": "without, because … is missing",
    r"\bmend(?:s|ed|ing)?\b": "fix",
    r"\bby whom\b|\bof whom\b": "say who it is",
    r"\bescape (?:closes|leaves)\b|\besc: ": "escape close",
    r"\bthere is none of\b": "unknown …",
    r"\bnobody knows\b": "unknown",
    r"\bforbids? to\b": "forbids reading",
    r"(?<!\bthere )(?<!^)\bis (?:no(?! longer\b|$)|none)\b|\bare no text\b": "is not a …",
    r"\bmake room\b": "free some disk space",
    r"\b(?:not|no|nothing)\b[^.;:]*\bany more\b|\bno more$": "no longer",
    r"\bthe most (?:there|one|rounds|tokens)\b": "the maximum",
    r"\bwith whatever\b": "with any",
    r"\btak(?:e|es|ing) (?:it |them )?(?:back|away)$": "undo, remove, edit",
    r"\bof texts\b": "strings",
    r"\bin trouble\b": "has a problem",
    r"\bhalf a character\b": "a lone surrogate",
    r"\bnothing is going on\b|\bgo(?:es|ing)? on(?: without it|\.\)|$)": "running, continue",
    r"\btrying again in\b": "retrying in",
    r"\bbelongs? into\b": "belong in",
    r"\bfor ever\b": "forever",
    r"\bsomething (?:is|went) wrong\b": "say what failed",
    r"\bpassed over\b": "skipped",
    r"\bcommands of a model\b": "the agent's commands",
    r"\bsay (?:what to (?:do|run)|which:|it again|something)": "write, send, name one",
    r"\bsocket files?\b": "Unix sockets",
    r"\ba folder further in\b": "a subfolder",
    r"\bsecond name\b": "a hard link",
    r"\b(?:as it was|as by default|all the same)$": "unchanged, reset, anyway",
    r"\b(?:is|are) not known\b": "unknown",
    r"\bcame to nothing\b": "failed",
    r"\bcannot be connected to\b": "cannot connect to",
    r"\bthe host (?:of session|is gone|ended|did not|could not)\b": "the session",
    r"\bholds? (?:from|for this session|here|now)\b": "applies, takes effect",
    r"\bin each other\b": "nested",
    r"\bthe (?:place|filter|block|one) before(?:$|:)": "the previous …",
    r"\bnot? made:": "not run:",
    r"\b(?:main|root) agent\b": "the agent; Main in lists and mail",
    r"\bthe agent of (?:the|this) session\b|\bsession's (?:own )?agent\b": "the agent; Main in lists and mail",
    r"\binjected\b": "delivered",
}
FROM_THE_SOURCE = ("console.md", "keys.md", "settings.md")  # their tables of commands, keys and settings
# Strings that are no prose: lists of names, shell scripts, and code in pictures.
NOT_PROSE = ("host/__init__.py", "exec/process/_guard.py", "views/console/gallery/scenes/_diff.py")


def problems(text: str) -> list[str]:
    return [
        f"{found[0]!r}: {instead}" for banned, instead in BANNED.items() if (found := re.search(banned, text, re.I))
    ]


def strings_of(path: Path) -> Iterator[tuple[int, str]]:
    """The literals of a module that are sentences: those with a space, without documentation."""
    tree = ast.parse(path.read_text())
    documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation:
            text = re.sub(r"`[^`]*`", "", node.value)
            if " " in text:
                yield node.lineno, text


def prose_of(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a page without its code, and without rows that other tests hold to strings of the source."""
    fenced = False
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.startswith("```"):
            fenced = not fenced
        elif path.name in FROM_THE_SOURCE and re.match(r"\| `/?\w+", line):
            continue
        elif not fenced and not line.startswith("    "):
            yield number, re.sub(r"`[^`]*`|\]\([^)]*\)", "", line)


_script_literal = re.compile(r'"([^"\n]*)"|`([^`\n]*)`')
_html_text = re.compile(r'>([^<>]+)<|(?:title|placeholder|aria-label|alt|content)="([^"]+)"')


def texts_of_the_page(path: Path) -> Iterator[tuple[int, str]]:
    """The literals of a script that are sentences, line by line, and the words of HTML."""
    literal = _script_literal if path.suffix == ".js" else _html_text
    for number, line in enumerate(path.read_text().splitlines(), 1):
        code = re.sub(r"(?<![:\"'`])//.*", "", line)
        for found in literal.finditer(code):
            words = re.sub(r"\$\{[^}]*\}", "", found[1] or found[2] or "")
            if " " in words:
                yield number, words


def reviewed(*patterns: str) -> list[Path]:
    excluded = {SOURCE / name for name in (*NOT_PROSE, "testing")}
    files = [path for pattern in patterns for path in sorted(SOURCE.rglob(pattern))]
    return [path for path in files if not excluded & {path, *path.parents}]


PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("guide/*.md")),
    *sorted((ROOT / "docs").glob("reference/*.md")),
    *sorted((ROOT / "docs").glob("internals/*.md")),
]


def found_in(path: Path, texts: Iterator[tuple[int, str]]) -> list[str]:
    return [f"{path.relative_to(ROOT)}:{line}: {each}" for line, text in texts for each in problems(text)]


@pytest.mark.parametrize("path", reviewed("*.py"), ids=lambda path: str(path.relative_to(SOURCE)))
def test_strings_are_plain_english(path: Path) -> None:
    """Errors, hints, help and everything else that is shown."""
    assert found_in(path, strings_of(path)) == []


def test_the_page_is_plain_english() -> None:
    """What the browser shows."""
    scripts = reviewed("*.js", "*.html")
    assert [each for path in scripts for each in found_in(path, texts_of_the_page(path))] == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_pages_are_plain_english(path: Path) -> None:
    """The README, the guide, the reference and the internals."""
    assert found_in(path, prose_of(path)) == []


def test_what_was_not_reviewed_exists() -> None:
    """What is gone does not stay on the list."""
    assert [name for name in NOT_PROSE if not (SOURCE / name).exists()] == []


@pytest.mark.parametrize(
    "text",
    [
        "to go on with this conversation",
        "Nobody is there",
        "the person refused",
        "it is kept",
        "a rule forbids to read it",
        "'x' is no key.",
        "make room, or set TMPDIR",
        "the session has no host any more",
        "5 jobs are running, which is the most there may be",
        "these programs with whatever arguments",
        "/approvals takes it back",
        "a list of texts",
        "the server is in trouble: try again later",
        "nothing came on stdin in 3 s, going on without it",
        "busy; trying again in 3 s",
        "something is wrong in the server itself",
        "4 MB of output passed over",
        "say what to do",
        "name a folder further in",
        "the text is as it was",
        "what it had done by then is not known",
        "the host of session k3m9qz is gone",
        "console.theme holds from the next session on",
        "not made: the work was stopped",
        "the main agent is idle",
        "write to the agent of the session",
        "Reader injected",
    ],
)
def test_the_list_finds_what_it_is_for(text: str) -> None:
    """The check can fail."""
    assert problems(text)


@pytest.mark.parametrize(
    "text",
    [
        "there is no model to work with",
        "there is none",
        "it is no longer stored",
        "no more than 8 MB",
        "the agent keeps its own login",
        "it takes back queued prompts",
        "the rest is too long to show",
    ],
)
def test_the_list_leaves_good_english_alone(text: str) -> None:
    """A pattern that hits good English is a wrong pattern."""
    assert problems(text) == []
