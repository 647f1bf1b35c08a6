"""Pages that lead somewhere, and say what the program does: links, commands, options, settings, keys and exit codes."""

import argparse
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from sightline.cli._parser import build_parser
from sightline.exceptions import UserMistake
from sightline.settings import Settings
from sightline.settings._fields import all_keys
from sightline.tty import Bindings
from sightline.views.console._actions import ACTIONS

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PROGRAM = ROOT / "src" / "sightline"
SIGHTLINE = str(Path(sys.executable).with_name("sightline"))
PAGES = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md", ROOT / "examples" / "README.md"]
PAGES += sorted(DOCS.rglob("*.md"))
FOR_USERS = [ROOT / "README.md", *sorted(DOCS.glob("guide/*.md")), *sorted(DOCS.glob("reference/*.md"))]
CLI = (DOCS / "reference" / "cli.md").read_text()
FILES = (DOCS / "reference" / "files.md").read_text()
EVERYWHERE = {"--help", "--color", "--debug-log"}  # the page has them once
CI_JOB = ROOT / "examples" / "ci" / "github-actions.yml"


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def prose(page: Path) -> str:
    return re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    """Files are there, and so are the headings of those with an anchor."""
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)(?:#([\w-]+))?\)", prose(page)):
        file = page.parent / target if target else page
        assert file.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.+)$", file.read_text(), re.MULTILINE)
            slugs = {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}
            assert anchor in slugs, (target, anchor)


def test_every_page_is_in_the_index() -> None:
    """A reader finds each page from docs/README.md."""
    index = (DOCS / "README.md").read_text()
    pages = [page.relative_to(DOCS) for page in DOCS.glob("*/*.md")]
    assert [str(page) for page in pages if f"({page})" not in index] == []


@pytest.mark.parametrize("page", sorted(DOCS.glob("*/*.md")), ids=name_of)
def test_a_page_says_first_what_it_is_for(page: Path) -> None:
    """Below its title is a sentence, not a heading, a table or code."""
    title, empty, first = page.read_text().split("\n")[:3]
    assert title.startswith("# ")
    assert empty == ""
    assert re.match(r"[A-Z`]", first), first


def test_the_readme_fits_on_a_screen() -> None:
    """What it is, a picture, the installation, two commands, five links."""
    text = (ROOT / "README.md").read_text()
    assert len(text.splitlines()) <= 45
    assert len(re.findall(r"(?<!!)\[[^\]]+\]\([^)]+\)", text)) == 5
    assert "make demo" in text
    assert "make test" in text


@pytest.mark.parametrize("page", [ROOT / "ARCHITECTURE.md", ROOT / "AGENTS.md"], ids=name_of)
def test_a_module_or_room_the_map_names_is_there(page: Path) -> None:
    """From the root of the project, or of the program; a name alone is that of a module in any room."""
    for name in re.findall(r"`([\w./-]+(?:\.py|/))`", prose(page)):
        places = (ROOT / name, ROOT / "src" / name, PROGRAM / name)
        assert any(place.exists() for place in places) or next(PROGRAM.rglob(name.rstrip("/")), None), name


# Options


def options_of(parser: argparse.ArgumentParser) -> set[str]:
    return {option for action in parser._actions for option in action.option_strings if option.startswith("--")}


def commands_of(parser: argparse.ArgumentParser, before: tuple[str, ...] = ()) -> Iterator[tuple[str, set[str]]]:
    """Every command with its options; those below it belong to it, unless the page has a section for them."""
    below: set[str] = set()
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, child in dict(action.choices).items():
                for command, options in commands_of(child, (*before, name)):
                    if (not before and command == name) or f"## `sightline {command}" in CLI:
                        yield command, options
                    else:
                        below |= options
    yield " ".join(before), options_of(parser) | below


def sections() -> dict[str, str]:
    """The parts of the page by command; what opens the console and what runs a prompt are one."""
    found: dict[str, str] = {}
    for heading, text in re.findall(r"^## `sightline(.*?)`\n(.*?)(?=^## |\Z)", CLI, re.MULTILINE | re.DOTALL):
        words = [word for word in heading.split() if re.fullmatch(r"[a-z]+", word)]
        found[" ".join(words)] = found.get(" ".join(words), "") + text
    return found


COMMANDS = {command: options for command, options in commands_of(build_parser()) if command != "flow"}


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command or "sightline")
def test_the_reference_has_the_options_of_the_help(command: str) -> None:
    """Each option of a command is in its section, and its table has no other."""
    text = sections()[command].replace("`-v`", "`--verbose`")
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text))
    assert COMMANDS[command] - EVERYWHERE - named == set(), "not on the page"
    assert named <= set().union(*COMMANDS.values()), "not in the program"
    table = set(re.findall(r"^\| (?:`-\w`, )?`(--[a-z-]+)", text, re.MULTILINE))
    assert table <= COMMANDS[command], "in the table and not in the program"


def test_every_command_has_a_section() -> None:
    """And no section is about a command that is gone."""
    assert set(COMMANDS) == set(sections())


# Commands in examples


def command_lines(text: str) -> Iterator[str]:
    """What a shell would run with our name as its first word, in the code of a page or a script."""
    joined = re.sub(r"\\\n\s*", " ", text)
    for line in joined.splitlines():
        line = line.strip().removeprefix("$ ")
        for found in re.finditer(r"(?:^|[|;(&] ?|\$\()(?:sudo )?sightline(?= |$)(.*)", line):
            yield found[1]


def arguments_of(line: str) -> list[str]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>()")
    lexer.whitespace_split = True
    words = []
    for word in lexer:
        if word and set(word) <= set("|&;<>()"):
            break
        words.append(word)
    return words


def documented_commands() -> list[object]:
    found = []
    for page in [*FOR_USERS, ROOT / "examples" / "README.md", ROOT / "CONTRIBUTING.md"]:
        for block in re.findall(r"```(?:console|sh|yaml)?\n(.*?)```", page.read_text(), re.DOTALL):
            found += [pytest.param(line, id=f"{page.name}:{line.strip()[:60]}") for line in command_lines(block)]
    for line in command_lines(CI_JOB.read_text()):
        found.append(pytest.param(line, id=f"{CI_JOB.name}:{line.strip()[:60]}"))
    return found


@pytest.mark.parametrize("line", documented_commands())
def test_a_command_of_the_documentation_is_one(line: str) -> None:
    """Each is understood: its command, its options and their values."""
    try:
        build_parser().parse_args(arguments_of(line))
    except UserMistake as mistake:
        pytest.fail(f"sightline{line}: {mistake.message}")


def test_there_are_commands_to_check() -> None:
    """Otherwise the test above would check nothing."""
    assert len(documented_commands()) > 40


# The complete job


def test_the_job_for_ci_is_what_the_guide_shows() -> None:
    """The guide's step is the example's, which has a timeout, names its permissions and uploads what it made."""
    job = yaml.safe_load(CI_JOB.read_text())
    steps = job["jobs"]["fix"]["steps"]
    [shown] = re.findall(r"```yaml\n(.*?)```", (DOCS / "guide" / "ci.md").read_text(), re.DOTALL)
    [step] = yaml.safe_load(shown)
    assert step in steps
    assert job["permissions"] == {"contents": "read"}
    assert "--timeout" in step["run"]
    assert job["jobs"]["fix"]["timeout-minutes"] * 60 > 1200
    assert any(each.get("uses", "").startswith("actions/upload-artifact@") for each in steps)


# Settings


@pytest.mark.parametrize("page", FOR_USERS, ids=name_of)
def test_a_setting_that_is_named_exists(page: Path) -> None:
    """Whatever stands in code as SECTION.NAME."""
    sections_of_settings = {name for name, kind in Settings.__annotations__.items() if hasattr(kind, "__annotations__")}
    known = {".".join(key) for key in all_keys()} | sections_of_settings
    for name in re.findall(r"`([a-z_]+(?:\.[a-z_]+)+)(?: = [^`]*)?`", page.read_text()):
        section, _, rest = name.partition(".")
        if section in sections_of_settings and rest not in ("md", "py", "json", "yaml", "toml"):
            found = any(name == each or name.startswith(f"{each}.") for each in known - sections_of_settings)
            assert found or page.name in ("sdk.md", "extensions.md"), name


# Keys


@pytest.mark.parametrize("page", sorted(DOCS.glob("guide/*.md")), ids=name_of)
def test_a_key_the_guide_names_is_bound(page: Path) -> None:
    """`Ctrl+O`, `Alt+J` and the like mean something in the console, or on the page."""
    bindings = Bindings()
    bound = {key for action in ACTIONS.values() for key in action.keys} | {
        key for name in bindings.actions("editor") for key in bindings.keys(name)
    }
    text = prose(page) if page.name != "console.md" else page.read_text()
    for key in re.findall(r"\b(?:Ctrl|Alt|Shift)\+(?:[A-Z]\b|Enter|Tab|Up|Down)", text):
        written = key.lower()
        assert written in bound or written in ("ctrl+c", "ctrl+z"), key


# Exit codes


def codes() -> set[str]:
    rows = re.findall(r"^\| ([\d, +n]+) \|", FILES.partition("## Exit codes")[2], re.MULTILINE)
    return {code for row in rows for code in row.split(", ")}


@pytest.mark.parametrize("page", FOR_USERS, ids=name_of)
def test_every_exit_code_that_is_named_is_on_the_page_of_exit_codes(page: Path) -> None:
    """In the words of a page and in its tables of exit codes."""
    text = page.read_text()
    named = set(re.findall(r"exit code (\d+)", text))
    for table in re.findall(r"\| exit code \|.*\n\| ---.*\n((?:\|.*\n)+)", text):
        named |= {code for row in re.findall(r"^\| ([\d, ]+) \|", table, re.MULTILINE) for code in row.split(", ")}
    assert {code for code in named if code not in codes() and int(code) < 128} <= {"6"}, "an example's own"


def test_the_help_names_exit_codes_of_the_page() -> None:
    """`--help` ends with them."""
    for command in ([], ["exec"], ["flow", "run"]):
        text = subprocess.run([SIGHTLINE, *command, "--help"], capture_output=True, text=True).stdout
        _, _, rest = " ".join(text.split()).partition("exit codes: ")
        named = set(re.findall(r"(?<![+ ] )\b(\d{1,3})\b", rest.replace("128 + n", "")))
        assert named
        assert named <= codes()


REFUSED = '[[{"tool": "bash", "args": {"command": "true", "sandbox": false}}], [{"text": "done"}]]'


@pytest.mark.parametrize(
    ("code", "arguments"),
    [
        ("0", ["--version"]),
        ("1", ["models"]),
        ("2", ["frobnicate"]),
        ("3", ["-p", "go", "--model", "scripted:refused.json"]),
        ("124", ["exec", "--timeout", "0.2", "--", "sleep", "60"]),
        ("127", ["exec", "--", "no-such-program-anywhere"]),
        ("128 + n", ["exec", "--", "sh", "-c", "kill -TERM $$"]),
    ],
)
def test_exit_codes_are_those_of_the_page(code: str, arguments: list[str], tmp_path: Path) -> None:
    """Each is made to happen."""
    assert code in codes()
    (tmp_path / "refused.json").write_text(REFUSED)
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "SIGHTLINE_HOME": str(tmp_path / "home")}
    environment["SIGHTLINE_MODELS_DISCOVER"] = "false"
    done = subprocess.run(
        [SIGHTLINE, *arguments],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=60,
    )
    assert done.returncode == (128 + 15 if code == "128 + n" else int(code)), done.stderr
