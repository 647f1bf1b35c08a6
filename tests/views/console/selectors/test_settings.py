"""Settings, keys, theme and thinking level: shown, changed, kept, and true at once."""

import asyncio
import tomllib

import pytest

from sightline.host import CommandReply, Reload, SetModel
from sightline.settings import load
from sightline.settings.editing import settings_file, trust
from sightline.views.console._actions import ACTIONS
from sightline.views.console.selectors import _keys, _settings, _theme, _thinking
from sightline.views.console.selectors._keys import KeyQuestion
from sightline.views.console.selectors._panel import ChoicePanel, QuestionPanel
from tests.views.console.selectors.support import WIDTHS, Desk


@pytest.fixture
def desk(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    made = Desk(cwd=str(folder))
    made.settings = load(folder).settings
    made.answers[Reload] = lambda command: CommandReply(True, data={"later": []})
    return made


def opened(desk, module, args=""):
    return asyncio.ensure_future(module.open(desk, args))


def kept(desk, tmp_path):
    return tomllib.loads(settings_file(tmp_path, project=False).read_text())


async def test_a_setting_is_found_changed_and_kept(desk, tmp_path):
    """Every setting is listed with its value; a number is typed in; the file and this console have it at once."""
    task = opened(desk, _settings)
    await desk.until_shown(ChoicePanel)
    desk.type("bashtimeout")
    assert desk.panel.list.highlighted.value == "bash.timeout"
    assert any("300" in row for row in desk.rows())
    desk.press("enter")
    await desk.until_shown(QuestionPanel)
    desk.press("ctrl+u", *"12.5", "enter")
    await desk.until_shown(ChoicePanel)
    assert desk.panel.list.highlighted.value == "bash.timeout"
    desk.press("escape", "escape")
    await task
    assert kept(desk, tmp_path) == {"bash": {"timeout": 12.5}}
    assert desk.settings.bash.timeout == 12.5
    assert Reload() in desk.submitted


async def test_a_wrong_value_is_not_kept_and_says_why(desk, tmp_path):
    """The question stays, with what was typed and what is wanted."""
    task = opened(desk, _settings, "bash.timeout")
    await desk.until_shown(ChoicePanel)
    desk.press("enter")
    await desk.until_shown(QuestionPanel)
    first = desk.panel
    desk.press("ctrl+u", *"soon", "enter")
    await desk.until(lambda: desk.shown and desk.panel is not first)
    assert any("must be a number" in row for row in desk.rows())
    assert desk.panel.input.text == "soon"
    assert not settings_file(tmp_path, project=False).exists()
    desk.press("escape")
    await desk.until_shown(ChoicePanel)
    desk.press("ctrl+c")
    await task


async def test_a_choice_is_chosen_and_taken_back(desk, tmp_path):
    """Of a few values one is chosen; `list_remove` has the default count again."""
    task = opened(desk, _settings, "console.keymap")
    await desk.until_shown(ChoicePanel)
    listed = desk.panel
    desk.press("enter")
    await desk.until(lambda: desk.shown and desk.panel is not listed)
    assert [item.value for item in desk.panel.list.matching] == ["emacs", "vim"]
    desk.press("down", "enter")
    await desk.until(lambda: desk.settings.console.keymap == "vim")
    await desk.until(lambda: desk.shown and desk.panel.list.highlighted.value == "console.keymap")
    assert any("vim ·" in row for row in desk.rows())
    desk.press("delete")
    await desk.until(lambda: desk.settings.console.keymap == "emacs")
    await desk.until_shown(ChoicePanel)
    desk.press("escape", "escape")
    await task
    assert desk.told == []


async def test_a_project_has_settings_of_its_own(desk, tmp_path):
    """`list_project` says for whom; what an untrusted folder says is kept and does not count, which is told."""
    task = opened(desk, _settings, "read.summarize")
    await desk.until_shown(ChoicePanel)
    await desk.go("ctrl+o")
    assert any("this project" in row for row in desk.rows())
    await desk.go("enter")
    await desk.go("end", "enter")
    assert desk.settings.read.summarize is True
    ((level, said, _),) = desk.told
    assert level == "warning"
    assert "not trusted" in said
    trust(tmp_path / "project")
    await desk.go("enter")
    await desk.go("end", "enter")
    assert desk.settings.read.summarize is False
    assert len(desk.told) == 1
    desk.press("escape", "escape")
    await task


async def test_words_are_searched_for_and_stay(desk):
    """As with `/resume WORDS`; what was searched for is there again after a setting was looked at."""
    task = opened(desk, _settings, "perm")
    await desk.until_shown(ChoicePanel)
    found = [item.value for item in desk.panel.list.matching]
    assert found
    assert all(name.startswith("permissions.") for name in found)
    await desk.go("enter")
    await desk.go("escape")
    assert desk.panel.list.query == "perm"
    assert [item.value for item in desk.panel.list.matching] == found
    desk.press("escape")
    assert "type to search" in desk.rows()[1]
    desk.press("escape")
    await task


async def test_words_that_no_setting_has_are_told(desk):
    """An empty list says so."""
    task = opened(desk, _settings, "zzz")
    await desk.until_shown(ChoicePanel)
    assert any("nothing matches" in row for row in desk.rows())
    desk.press("ctrl+c")
    await task


async def test_mistakes_in_the_file_are_told(desk, tmp_path):
    """Half a configuration is none."""
    path = settings_file(tmp_path, project=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("[bash]\ntimeout = 'soon'\n")
    await _settings.open(desk, "")
    assert desk.told[0][0] == "error"


async def test_what_holds_only_later_is_said(desk):
    """The host names what a running session cannot take over."""
    desk.answers[Reload] = lambda command: CommandReply(True, data={"later": ["console.theme"]})
    await _theme.open(desk, "light")
    assert desk.told == [("info", "console.theme takes effect in the next session", "")]


async def test_a_theme_is_seen_before_it_is_chosen(desk, tmp_path):
    """Each that is highlighted is shown at once; leaving shows the old one again; enter keeps it."""
    task = opened(desk, _theme)
    await desk.until_shown(ChoicePanel)
    desk.press("down")
    desk.press("down")
    desk.press("escape")
    await task
    assert desk.themes == ["dark", "light", "auto"]
    assert not settings_file(tmp_path, project=False).exists()
    task = opened(desk, _theme)
    await desk.until_shown(ChoicePanel)
    desk.press("down", "enter")
    await task
    assert desk.themes[-1] == "dark"
    assert kept(desk, tmp_path) == {"console": {"theme": "dark"}}
    assert desk.settings.console.theme == "dark"


async def test_a_theme_can_be_named(desk):
    """`/theme light`; one that is not there is said."""
    await _theme.open(desk, "light")
    assert desk.themes == ["light"]
    await _theme.open(desk, "pink")
    assert desk.told == [("error", "no theme pink", "one of auto, dark, light")]


async def test_the_thinking_level_is_chosen_or_named(desk):
    """The level there is now is marked and highlighted."""
    desk.answers[SetModel] = lambda command: CommandReply(True)
    desk.state.state["thinking"] = "high"
    task = opened(desk, _thinking)
    await desk.until_shown(ChoicePanel)
    assert desk.panel.list.highlighted.label == "high (now)"
    desk.press("down", "enter")
    await task
    await _thinking.open(desk, "low")
    assert desk.submitted == [SetModel(thinking="max"), SetModel(thinking="low")]


async def test_a_level_the_host_refuses_is_said(desk):
    """With its hint."""
    desk.answers[SetModel] = lambda command: CommandReply(False, error="no thinking level huge", hint="off, low")
    await _thinking.open(desk, "huge")
    assert desk.told == [("error", "no thinking level huge", "off, low")]


async def test_every_action_is_listed_with_its_keys(desk):
    """None is left out."""
    task = opened(desk, _keys)
    await desk.until_shown(ChoicePanel)
    assert {item.value for item in desk.panel.list.matching} == set(ACTIONS)
    described = {item.value: item.description for item in desk.panel.list.matching}
    assert described["view_output"].startswith("ctrl+o · ")
    assert described["tree"].startswith("(none) · ")
    desk.press("escape")
    await task


async def test_a_key_is_bound_by_pressing_it(desk, tmp_path):
    """It means the action at once, and is kept."""
    task = opened(desk, _keys, "tree")
    await desk.until_shown(ChoicePanel)
    desk.press("enter")
    await desk.until_shown(KeyQuestion)
    desk.press("f5")
    await desk.until_shown(ChoicePanel)
    assert desk.bindings.keys("tree") == ("f5",)
    assert kept(desk, tmp_path) == {"console": {"keys": {"tree": ["f5"]}}}
    desk.press("ctrl+a")
    await desk.until_shown(KeyQuestion)
    desk.paste("ctrl+alt+t")
    await desk.until_shown(ChoicePanel)
    assert desk.bindings.keys("tree") == ("f5", "ctrl+alt+t")
    desk.press("delete")
    await desk.until(lambda: desk.bindings.keys("tree") == ())
    await desk.until_shown(ChoicePanel)
    desk.press("escape")
    await task
    assert load(tmp_path / "project").settings.console.keys == {}


async def test_a_key_that_means_something_already_is_said_first(desk):
    """Pressed again it is taken all the same; escape leaves everything as it was."""
    task = opened(desk, _keys, "jobs")
    await desk.until_shown(ChoicePanel)
    for last in ("escape", "alt+m"):
        desk.press("enter")
        await desk.until_shown(KeyQuestion)
        first = desk.panel
        desk.press("alt+m")
        await desk.until(lambda first=first: desk.shown and desk.panel is not first)
        assert any("alt+m means both" in row for row in desk.rows(200))
        desk.press(last)
        await desk.until_shown(ChoicePanel)
    assert desk.bindings.keys("jobs") == ("alt+m",)
    assert any("alt+m means both" in row for row in desk.rows(200))
    desk.press("escape")
    await task


async def test_what_is_no_key_is_said_when_it_is_written(desk):
    """And the question stays."""
    task = opened(desk, _keys, "jobs")
    await desk.until_shown(ChoicePanel)
    desk.press("enter")
    await desk.until_shown(KeyQuestion)
    desk.paste("ctlr+x")
    assert any("not a modifier" in row for row in desk.rows(200))
    desk.press("ctrl+c")
    await desk.until_shown(ChoicePanel)
    desk.press("ctrl+c")
    await task


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("height", [8, 24, 60])
@pytest.mark.parametrize("module", [_settings, _keys, _theme, _thinking], ids=["settings", "keys", "theme", "thinking"])
async def test_they_fit(desk, module, width, height):
    """At any size, with room for the rows of the console below."""
    desk.height = height
    task = opened(desk, module)
    await desk.until_shown(ChoicePanel)
    assert len(desk.rows(width)) <= height - 3
    assert desk.panel.render(width) is desk.panel.render(width)
    desk.press("ctrl+c")
    await task


async def test_each_setting_is_explained_with_its_values(desk):
    """In the list, for the one that is highlighted; and where it is changed, value by value."""
    task = opened(desk, _settings, "permissions.approval")
    await desk.until_shown(ChoicePanel)
    rows = " ".join(desk.rows())
    assert "may do without asking" in rows
    assert "default: auto" in rows
    await desk.go("enter")
    await desk.until_rows("edits files, runs sandboxed commands", "reads only; no edits, no commands")
    desk.press("escape")
    await desk.until_shown(_settings.SettingsPanel)
    desk.press("escape", "escape")
    await task


def test_no_setting_is_without_an_explanation():
    """The comment beside it in the tree of settings."""
    from sightline.settings._fields import all_keys
    from sightline.settings.editing import about

    assert [key for key in all_keys() if not about(key)] == []
