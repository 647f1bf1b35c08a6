"""The session tree against a real host: what a person does in it is done to the real conversation (tree.md)."""

import asyncio

from sightline.agent import Cancelled, Summary
from sightline.conversation import text_of
from sightline.events import State
from sightline.host import MoveTo, Prompt, SetModel, connect
from sightline.journal import SessionTree, Store
from sightline.settings import Settings
from sightline.settings._tree import BranchSummary
from sightline.views.console.selectors import _tree
from sightline.views.console.selectors._panel import ChoicePanel, WaitingPanel
from sightline.views.console.selectors._tree import TreePanel
from tests.agent.support import lab
from tests.views.console.selectors.support import Desk

TURNS = [[{"text": "one"}], [{"text": "two"}], [{"text": "three"}]]


class Hosted:
    """A desk whose host is real."""

    def __init__(self, here, client, **options):
        self.here, self.client = here, client
        self.desk = Desk(here.store, here.session.id, **options)
        submit = self.desk.submit

        async def asked(command):
            self.desk.answers[type(command)] = client.submit
            return await submit(command)

        self.desk.submit = asked

    async def say(self, text):
        assert (await self.client.submit(Prompt(text))).ok
        await self.here.ended()
        await self.desk.until(lambda: not self.here.agent.busy)

    async def open(self):
        task = asyncio.ensure_future(_tree.open(self.desk, ""))
        await self.desk.until_shown(TreePanel)
        return task

    @property
    def tree(self):
        return self.here.agent.memory.tree


async def test_a_prompt_is_said_again_from_before_it(tmp_path):
    """tree.md/Operator workflows/Re-run from an earlier user prompt: search, select, edit, submit; both stay.

    (tree.md/What `/tree` does)
    """
    async with lab(tmp_path, TURNS, attended=True) as here:
        client = await connect(here.session.id)
        hosted = Hosted(here, client)
        await hosted.say("first")
        await hosted.say("second")
        task = await hosted.open()
        hosted.desk.type("second")
        hosted.desk.press("enter")
        await asyncio.wait_for(task, 60)
        assert hosted.desk.draft == "second"
        await hosted.say("second, but better")
        said = [text_of(entry.message) for entry in hosted.tree.messages()]
        assert said == ["first", "one", "second, but better", "three"]
        task = await hosted.open()
        assert any('├─ user: "second"' in row for row in hosted.desk.rows())
        assert any('└─ • user: "second, but better"' in row for row in hosted.desk.rows())
        hosted.desk.press("escape")
        await task
        client.close()


async def test_a_landmark_is_labelled_and_found_again(tmp_path):
    """tree.md/Operator workflows/Bookmark pivot points: Shift+L now, Alt+L later."""
    async with lab(tmp_path, TURNS, attended=True) as here:
        client = await connect(here.session.id)
        hosted = Hosted(here, client)
        await hosted.say("first")
        await hosted.say("second")
        task = await hosted.open()
        hosted.desk.press("home", "down", "L", *"pivot", "enter")
        await hosted.desk.settled()
        hosted.desk.press("alt+l")
        await hosted.desk.settled()
        assert [row for row in hosted.desk.rows() if "[pivot]" in row] == ['› • [pivot] assistant: "one"']
        hosted.desk.press("enter")
        await asyncio.wait_for(task, 60)
        assert [text_of(entry.message) for entry in hosted.tree.messages()] == ["first", "one"]
        await here.session.sync()
        kept = SessionTree.load(Store(here.store._folder).folder(here.session.id))
        assert kept.labels == hosted.tree.labels
        assert kept.leaf == hosted.tree.leaf
        client.close()


async def test_bookkeeping_is_looked_through(tmp_path):
    """tree.md/Operator workflows/Investigate hidden bookkeeping entries: Alt+A, then search for model or thinking."""
    async with lab(tmp_path, TURNS, attended=True) as here:
        client = await connect(here.session.id)
        hosted = Hosted(here, client)
        await hosted.say("first")
        assert (await client.submit(SetModel(thinking="high"))).ok
        task = await hosted.open()
        assert not any("thinking_level_change" in row for row in hosted.desk.rows())
        hosted.desk.press("alt+a", *"thinking")
        await hosted.desk.settled()
        assert any("thinking_level_change: high" in row for row in hosted.desk.rows())
        hosted.desk.press("ctrl+c")
        await task
        client.close()


async def test_a_branch_is_left_with_a_summary(tmp_path):
    """tree.md/Operator workflows/Leave current branch with context breadcrumb: a branch_summary at the target.

    (tree.md/Summary-on-switch flow)
    """
    small = tmp_path / "small.json"
    small.write_text('[[{"text": "what was tried"}]]')
    wanted = {"models.small": f"scripted:{small}", "branch_summary.enabled": "true"}
    async with lab(tmp_path, TURNS, attended=True, settings=wanted) as here:
        client = await connect(here.session.id)
        hosted = Hosted(here, client, settings=Settings(branch_summary=BranchSummary(enabled=True)))
        await hosted.say("first")
        await hosted.say("second")
        task = await hosted.open()
        hosted.desk.press("home", "down", "enter")
        await hosted.desk.until_shown(ChoicePanel)
        hosted.desk.press("down", "enter")
        await asyncio.wait_for(task, 10)
        *_, target, summary = hosted.tree.path()
        assert (target.role, summary.type) == ("assistant", "branch_summary")
        assert next(hosted.tree.read([summary])).data["summary"] == "what was tried"
        assert hosted.desk.told == []
        client.close()


async def test_a_summary_under_way_is_stopped_and_nothing_has_moved(tmp_path):
    """tree.md/Summary-on-switch flow: Esc aborts the summary; the tree is there again and the leaf where it was."""
    small = tmp_path / "small.json"
    small.write_text('[[{"text": "summary", "delay_ms": 60000}]]')
    wanted = {"models.small": f"scripted:{small}", "branch_summary.enabled": "true"}
    async with lab(tmp_path, TURNS, attended=True, settings=wanted) as here:
        client = await connect(here.session.id)
        hosted = Hosted(here, client, settings=Settings(branch_summary=BranchSummary(enabled=True)))
        await hosted.say("first")
        await hosted.say("second")
        leaf = hosted.tree.leaf
        task = await hosted.open()
        hosted.desk.press("home", "down", "enter")
        await hosted.desk.until_shown(ChoicePanel)
        hosted.desk.press("down", "enter")
        await hosted.desk.until_shown(WaitingPanel)
        await hosted.desk.until(lambda: here.agent._rearranging is not None, "the summary to begin")
        hosted.desk.press("escape")
        await hosted.desk.until_shown(TreePanel)
        assert hosted.tree.leaf == leaf
        assert hosted.desk.told == []
        hosted.desk.press("escape")
        await task
        client.close()


async def test_an_extension_stops_a_move(tmp_path):
    """tree.md/Summary-on-switch flow: before the move extensions are asked, and can cancel it; the person hears why."""
    async with lab(tmp_path, TURNS, attended=True) as here:
        client = await connect(here.session.id)
        hosted = Hosted(here, client)
        await hosted.say("first")
        leaf, asked = hosted.tree.leaf, []
        here.agent.hooks.add("before_tree", lambda details: asked.append(details) or Cancelled("not now"))
        task = await hosted.open()
        hosted.desk.press("home", "enter")
        await asyncio.wait_for(task, 60)
        assert asked == [{"from": leaf, "to": "", "summarize": False}]
        assert hosted.tree.leaf == leaf
        ((level, said, _),) = hosted.desk.told
        assert level == "error"
        assert "not now" in said
        client.close()


async def test_an_extension_gives_the_summary_and_hears_of_the_move(tmp_path):
    """tree.md/Summary-on-switch flow: extensions can inject the summary; after it they are told (session_tree)."""
    async with lab(tmp_path, TURNS, attended=True) as here:
        client = await connect(here.session.id)
        hosted = Hosted(here, client)
        await hosted.say("first")
        await hosted.say("second")
        told = []
        here.agent.hooks.add("before_tree", lambda details: Summary("theirs"))
        here.agent.hooks.add("tree", told.append)
        task = await hosted.open()
        hosted.desk.type("one")
        hosted.desk.press("enter")
        await asyncio.wait_for(task, 60)
        *_, summary = hosted.tree.path()
        assert next(hosted.tree.read([summary])).data["summary"] == "theirs"
        assert told == [{"leaf": hosted.tree.leaf, "ranges": hosted.tree.ranges()}]
        client.close()


async def test_where_nothing_is_left_behind_no_summary_is_made(tmp_path):
    """tree.md/Summary-on-switch flow: asked for a summary of nothing, it moves without one, and asks no model."""
    wanted = {"branch_summary.enabled": "true"}
    async with lab(tmp_path, TURNS, attended=True, settings=wanted) as here:
        client = await connect(here.session.id)
        hosted = Hosted(here, client, settings=Settings(branch_summary=BranchSummary(enabled=True)))
        await hosted.say("first")
        first = hosted.tree.leaf
        await hosted.say("second")
        second = hosted.tree.leaf
        assert (await client.submit(MoveTo(first))).ok
        task = await hosted.open()
        hosted.desk.press("alt+a", *"two")
        await hosted.desk.settled()
        hosted.desk.press("enter")
        await hosted.desk.until_shown(ChoicePanel)
        hosted.desk.press("down", "enter")  # what is below is not left: the old path is all on the new one
        await asyncio.wait_for(task, 10)
        assert hosted.tree.leaf == second
        assert not any(node.type == "branch_summary" for node in hosted.tree.nodes.values())
        client.close()


async def test_the_model_reads_the_new_branch_and_views_are_told(tmp_path):
    """tree.md/What /tree does: the agent's conversation is the new path, and whoever shows it is told which events.

    (tree.md/What `/tree` does)

    (tree.md/Summary-on-switch flow)
    """
    async with lab(tmp_path, TURNS, attended=True) as here:
        client = await connect(here.session.id)
        hosted = Hosted(here, client)
        await hosted.say("first")
        await hosted.say("second")
        task = await hosted.open()
        hosted.desk.type("one")
        hosted.desk.press("enter")
        await asyncio.wait_for(task, 60)
        branch = [event.value for event in here.seen if isinstance(event, State) and event.key == "branch"]
        assert branch[-1]["leaf"] == hosted.tree.leaf
        assert [text_of(message) for message in here.messages] == ["first", "one"]
        client.close()
