"""Any keys, pastes and sizes: nothing fails, every row fits, and leaving always works."""

import asyncio
import random

import pytest

from sightline.host import Abort, CancelCall, CancelJob, CommandReply, Reload, SendMail, SetApproval, SetModel
from sightline.settings import load
from sightline.tty import Key
from sightline.views.console._actions import ACTIONS
from sightline.views.console.selectors import (
    _agents,
    _approvals,
    _branch,
    _files,
    _jobs,
    _keys,
    _mail,
    _model,
    _resume,
    _settings,
    _theme,
    _thinking,
    _tree,
)
from tests.journal.conversations import Talk, assistant, user
from tests.views.console.selectors.support import HOSTILE, WIDTHS, Desk, HostOf, key, new_store
from tests.views.console.selectors.test_mail import with_mail
from tests.views.console.selectors.test_work import A, diff, edit, running, with_agents

MODULES = [
    _agents,
    _approvals,
    _branch,
    _files,
    _jobs,
    _keys,
    _mail,
    _model,
    _resume,
    _settings,
    _theme,
    _thinking,
    _tree,
]
NAMES = sorted({spec for action in ACTIONS.values() for spec in action.keys if spec not in ("ctrl+c", "ctrl+z")})


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__.rpartition("_")[2])
@pytest.mark.parametrize("linear", [False, True], ids=["drawn", "linear"])
async def test_whatever_is_pressed(module, linear, tmp_path, monkeypatch):
    """Six hundred keys, each of them on whatever is open then."""
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENROUTER_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("EDITOR", "true")
    monkeypatch.setenv("SIGHTLINE_MODELS_DISCOVER", "false")
    chance = random.Random(module.__name__)
    desk = _desk(tmp_path, linear)
    task = asyncio.ensure_future(module.open(desk, ""))
    for _ in range(600):
        await desk.until(lambda task=task: desk.shown or task.done())
        if task.done():
            await task
            task = asyncio.ensure_future(module.open(desk, ""))
            continue
        _press(desk, chance)
        desk.height = chance.choice((8, 11, 24, 60))
        if desk.shown:
            desk.rows(chance.choice(WIDTHS))
        await asyncio.sleep(0)
    await _left(desk, task)


def _press(desk, chance):
    what = chance.random()
    if what < 0.3:
        desk.press(chance.choice("abcdefgz 123/é日"))
    elif what < 0.35:
        desk.paste(chance.choice([HOSTILE, "tree", "ctrl+x", "", "x\ny"]))
    elif what < 0.37:
        desk.panel.handle_input(Key("a", text="a", kind="release"))
    else:
        desk.panel.handle_input(key(chance.choice(NAMES)))


async def _left(desk, task):
    """However deep one is, pressing ctrl+c leads out."""
    for _ in range(2000):
        if task.done():
            break
        if desk.shown:
            desk.press("ctrl+c")
        await asyncio.sleep(0.001)
    await asyncio.wait_for(task, 60)
    for each in tuple(desk.tasks):
        each.cancel()


def _desk(tmp_path, linear):
    folder = tmp_path / "work"
    folder.mkdir()
    talk = Talk(new_store(tmp_path), cwd=str(folder))
    for number in range(5):
        fork = talk.step(user(f"{number} {HOSTILE}"))
        talk.step(assistant("side", "ls"))
        talk.move(fork)
    desk = Desk(talk.store, talk.id, cwd=str(folder), settings=load(folder).settings, linear=linear)
    HostOf(desk, talk)
    for command in (Abort, CancelJob, CancelCall, Reload, SetModel):
        desk.answers[command] = lambda command: CommandReply(True, data={"queued": ["x"], "later": []})
    rules = [{"rule": f"exec({HOSTILE})", "verdict": "allow", "origin": origin} for origin in ("session", "settings")]
    held = {"level": "auto", "levels": ["plan", "edit", "auto", "full"], "rules": rules}
    receipts = {"receipts": [{"to": HOSTILE, "outcome": "woken"}]}
    desk.answers[SendMail] = lambda command: CommandReply(bool(command.reply_to), "m9", HOSTILE, "", receipts)
    desk.answers[SetApproval] = lambda command: CommandReply(True, data=held)
    with_agents(desk)
    with_mail(desk, *[(sender, HOSTILE * 20) for sender in ("a", "", "a/b", None) * 5])
    running(desk, f"{talk.id}-1", f"{talk.id}-2")
    desk.state.entries += [edit(str(number), diff(f"{number}.py", A)) for number in range(3)]
    return desk
