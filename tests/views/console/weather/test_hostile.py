"""Text that somebody else wrote cannot touch the terminal, wherever it is shown.

Every byte that is written to the pty is read by `sightline.testing.monkey.Witness`, which knows what the console has a
reason to write.
"""

import asyncio
import json
import os
from pathlib import Path

import pytest

from sightline.host import Label, Outline, connect
from tests.cli.support import running_sessions, until
from tests.views.console.e2e.support import CTRL_C, CTRL_D, CTRL_O, CTRL_R, ENTER, ESCAPE, Person, bash, pasted, text
from tests.views.console.weather.support import ATTACKS, IN_XTERM, hostile, untouched

pytestmark = [pytest.mark.slow, IN_XTERM]

EXTENSION = """
from sightline.extension import Extension, Outcome, ToolContext

HOSTILE = {hostile!r}


def setup(extension: Extension) -> None:
    @extension.tool
    async def show(context: ToolContext) -> Outcome:
        ui = extension.ui
        ui.set_widget("w", [f"widget {{HOSTILE}}"], placement="above")
        ui.set_status("s", f"status {{HOSTILE}}")
        ui.set_title(f"title {{HOSTILE}}")
        ui.notify(f"notified {{HOSTILE}}")
        context.output(f"output {{HOSTILE}}\\n")
        items = [{{"id": "1", "agent": HOSTILE, "task": HOSTILE, "status": "ok", "preview": HOSTILE}}]
        context.update({{"ui": {{"kind": "agent_delegation", "mode": "single", "items": items}}}})
        chosen = await ui.select(f"select {{HOSTILE}}", [f"option {{HOSTILE}}", "other"])
        return Outcome(text=f"chosen {{chosen}}", details={{HOSTILE: HOSTILE}})


def console(ui):
    from sightline.extension import Component

    class Rows(Component):
        def render(self, width):
            return [f"rendered {{HOSTILE}}"]

    ui.renderer("show", render_call=lambda *_, **__: Rows())
"""


def test_what_a_model_says_and_commands_print(person: Person) -> None:
    """Words, reasoning, arguments, live output, errors and results."""
    dump = person.project / "dump"
    dump.write_bytes(hostile("dump").replace("\0", "").encode() + b"\n\xff\xfe half \xf0\x9f\n")
    model = person.script(
        [{"reasoning": hostile("reason")}, text(f"# {hostile('words')}\n\n`{hostile('code')}`\n", chunk=7)],
        [bash(f"cat dump; : {hostile('arg')!r}; exit 4"), {"tool": hostile("tool"), "args": {hostile("key"): 1}}],
        [{"error": {"kind": "bad_request", "message": hostile("error")}}],
    )
    screen = person.opens("--model", model)
    screen.press("\x1bt")
    screen.says("one")
    screen.sees("begin-words", "end-words", "begin-reason", "end-code")
    screen.says("two")
    screen.sees("… full-screen program …")  # which the dump opens and never closes: its output has all of it
    screen.sees("end-error")
    screen.press(CTRL_O)
    screen.sees("other block")
    screen.press("[")
    screen.sees("end-dump")
    screen.press("q")
    untouched(screen)


def test_a_line_without_an_end_and_marks_without_number(person: Person) -> None:
    """A megabyte in one line and thousands of accents on one letter are shown, cut, and typing goes on."""
    model = person.script(
        [text("e" + "\u0301" * 20_000 + " accents", chunk=4000), bash("head -c 1000000 /dev/zero | tr '\\0' x; echo")],
        [text("y" * 1_000_000 + " after-the-line", chunk=50_000)],
    )
    screen = person.opens("--model", model)
    screen.says("go")
    screen.sees("after-the-line")
    screen.press("still here")
    screen.sees("still here")
    untouched(screen)


def test_names_of_files(person: Person) -> None:
    """In calls, in listings, and in the completion of `@`; names that are no UTF-8 too."""
    name = f"zz-{''.join(ATTACKS[:3])}\u202e-file.txt".replace("/", "").replace("\x00", "")
    (person.project / name).write_text("x\n")
    Path(os.fsdecode(os.fsencode(person.project) + b"/zz-bad\xff\xfe.txt")).write_text("x\n")
    model = person.script(
        [{"tool": "read", "args": {"path": name}}, {"tool": "read", "args": {"path": "."}}, bash("ls zz*")],
        [{"tool": "find", "args": {"paths": ["zz*"]}}],
        [text("Listed.")],
    )
    screen = person.opens("--model", model)
    screen.says("list")
    screen.sees("Listed.")
    screen.press("@zz")
    screen.sees("-file.txt")
    screen.press("\t", " and")
    screen.sees(" and")
    untouched(screen)


def test_what_is_asked(person: Person) -> None:
    """Commands and folders to be approved, questions and their choices."""
    odd = person.folder / f"odd-{ATTACKS[0].replace('/', '')}".replace("\x00", "")
    choices = [hostile("left"), {"label": hostile("right"), "description": hostile("why")}]
    model = person.script(
        [{"tool": "bash", "args": {"command": f"echo {hostile('command')}", "sandbox": False}}],
        [{"tool": "write", "args": {"path": str(odd), "content": hostile("content")}}],
        [{"tool": "ask", "args": {"question": hostile("question"), "choices": choices}}],
        [text("Answered.")],
    )
    screen = person.opens("--model", model)
    screen.says("ask")
    for shown in ("begin-command", "begin-content"):
        screen.sees("Allow this?", shown)
        screen.answers("n", lambda rows: any("Tell the agent why" in row for row in rows))
        screen.press(ENTER)
        screen.sees_no("Allow this?")
    screen.sees("The agent asks", "begin-question", "begin-left", "begin-right")
    screen.press(ENTER)
    screen.sees("Answered.")
    untouched(screen)


def test_an_extension(person: Person, tmp_path) -> None:
    """Its widgets, status, title, notices, dialogs, steps and rows of its own."""
    extensions = tmp_path / "sightline-home" / "extensions"
    extensions.mkdir(parents=True)
    (extensions / "show.py").write_text(EXTENSION.format(hostile=hostile("x")))
    screen = person.opens("--model", person.script([{"tool": "show", "args": {}}], [text("Shown.")]))
    screen.says("show")
    screen.sees("widget begin-x", "select begin-x", "option begin-x")
    screen.sees("notified begin-x")
    screen.press(ENTER)
    screen.sees("Shown.")
    untouched(screen)


def test_titles_and_what_was_written_before(person: Person, tmp_path) -> None:
    """In /resume, in the search of the history, and in the name of the model in use."""
    home = tmp_path / "sightline-home"
    home.mkdir()
    written = {"text": hostile("history"), "time": 1.0, "cwd": hostile("cwd")}
    (home / "prompts.jsonl").write_text(json.dumps(written) + "\n")
    model = person.script([text("Said.")], name=f"model-{ATTACKS[1]}{ATTACKS[14]}".replace("/", ""))
    screen = person.opens("--model", model)
    screen.press(CTRL_R)
    screen.sees("begin-history")
    screen.press(ESCAPE)
    screen.sees_no("begin-history")
    screen.press(pasted(hostile("prompt")))
    screen.sees("end-prompt")
    screen.press(ENTER)
    screen.sees("Said.")
    screen.sees_no("escape stop")
    screen.press(CTRL_D)
    screen.ended()
    untouched(screen)
    again = person.opens("--model", model)
    again.press("/resume", ENTER)
    again.sees("begin-prompt")
    again.press(CTRL_C)
    untouched(again)


def test_labels_in_the_tree_and_names_of_models(person: Person, tmp_path) -> None:
    """A label somebody else's view gave, and models as settings or a server name them."""
    home = tmp_path / "sightline-home"
    home.mkdir()
    named = json.dumps([f"begin-model {attack} end-model" for attack in ATTACKS])
    (home / "settings.toml").write_text(f'[models.servers.own]\nbase_url = "http://127.0.0.1:9/v1"\nmodels = {named}\n')
    screen = person.opens("--model", person.script([text("Said.")]))
    screen.says("a question")
    screen.sees("Said.")
    (session,) = until(running_sessions, "the session")
    asyncio.run(_label_everything(session["id"]))
    screen.press("/tree", ENTER)
    screen.sees("begin-label", "end-label")
    screen.press(CTRL_C)
    screen.sees_no("begin-label")
    screen.press("/model", ENTER)
    screen.sees("begin-model", "end-model")
    screen.press(CTRL_C)
    screen.sees_no("begin-model")
    untouched(screen)


async def _label_everything(session: str) -> None:
    client = await connect(session)
    lines = (await client.submit(Outline())).data["lines"]
    for line in lines:
        reply = await client.submit(Label(line["id"], hostile("label")))
        assert reply.ok, reply
    client.close()
