"""The command lines of the real CLIs: what is promised about them. That the CLIs take them, `make live` proves."""

import json

import pytest

from sightline.providers import ProviderPrompt, get_provider, provider_names

CLIS = [name for name in provider_names() if get_provider(name).command is not None]
# What lifts a CLI's own permissions or sandbox, in the words of their own flags.
LIFTING = ("dangerously", "yolo", "--auto", "bypass", "full-access", "skip-git", "skip-trust", "acceptEdits", "allow")


def arguments(name: str, **wishes: object) -> list[str]:
    return get_provider(name).command.arguments(ProviderPrompt(prompt="hello", **wishes))


@pytest.mark.parametrize("name", CLIS)
def test_nothing_lifts_permissions_unless_asked(name: str):
    """The default is the CLI's own behaviour, with or without a model and a session."""
    for line in (arguments(name), arguments(name, model="m", resume="s"), arguments(name, approval="plan")):
        assert not [argument for argument in line if any(word in argument for word in LIFTING)]
    environment = get_provider(name).command.environment
    assert environment is None or environment(ProviderPrompt(prompt="hello")) == {}


@pytest.mark.parametrize("name", CLIS)
@pytest.mark.parametrize("level", ["auto", "plan", "edit", "full"])
def test_the_flags_that_are_shown_are_the_flags_that_are_used(name: str, level: str):
    """Exactly those are added to the line of the default level."""
    flags = list(get_provider(name).command.approvals[level])
    line = arguments(name, approval=level, resume="s")
    at = line.index(flags[0]) if flags else 0
    assert line[at : at + len(flags)] == flags
    assert line[:at] + line[at + len(flags) :] == arguments(name, resume="s")


@pytest.mark.parametrize("name", CLIS)
def test_the_prompt_is_not_on_the_command_line(name: str):
    """It goes in on stdin: no length limit, and nobody sees it in the list of processes."""
    assert "hello" not in " ".join(arguments(name))


@pytest.mark.parametrize("name", CLIS)
def test_a_model_or_session_that_looks_like_a_flag_stays_a_value(name: str):
    """It is joined to its flag, or comes after the mark that ends all flags."""
    line = arguments(name, model="--evil", resume="--wicked")
    flags = line[: line.index("--")] if "--" in line else line
    assert "--evil" not in flags
    assert "--wicked" not in flags
    assert any("--evil" in argument for argument in line)
    assert any("--wicked" in argument for argument in line)


@pytest.mark.parametrize(("level", "edits"), [("plan", "deny"), ("edit", "allow")])
def test_opencode_gets_an_agent_that_may_do_no_more_than_the_level(level: str, edits: str):
    """Everything not listed is denied, commands with it; settings given for one run are kept."""
    given = {"OPENCODE_CONFIG_CONTENT": '{"share": "disabled", "agent": {"mine": {}}}'}
    command = get_provider("opencode").command
    settings = json.loads(
        command.environment(ProviderPrompt(prompt="", approval=level, env=given))["OPENCODE_CONFIG_CONTENT"]
    )
    assert settings["share"] == "disabled"
    assert "mine" in settings["agent"]
    rules = settings["agent"][f"sightline-{level}"]["permission"]
    assert next(iter(rules.items())) == ("*", "deny")  # the last rule that fits wins, so this one must come first
    assert rules.get("edit", rules["*"]) == edits
    assert rules.get("bash", rules["*"]) == "deny"


def test_opencode_settings_that_are_no_json_do_no_harm():
    """They are ignored, as OpenCode itself does."""
    ask = ProviderPrompt(prompt="", approval="plan", env={"OPENCODE_CONFIG_CONTENT": "{not json"})
    assert "sightline-plan" in get_provider("opencode").command.environment(ask)["OPENCODE_CONFIG_CONTENT"]
