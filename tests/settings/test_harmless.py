"""A rule covers what models write around a command, and nothing that changes what runs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.settings import is_harmless, parse_rule
from sightline.settings.rules._denial import Certainty
from sightline.settings.rules._rules import allows_command, denies_command, suggest

RULES = [parse_rule("exec(npm test *)"), parse_rule("exec(make *)")]


def allowed(command: str) -> bool:
    return allows_command(RULES, command) is not None


@pytest.mark.parametrize(
    "command",
    [
        "CI=1 npm test",
        "CI=true NO_COLOR=1 npm test --watch=false",
        "NODE_ENV=test npm test",
        "TZ=Europe/Berlin LC_ALL=C.UTF-8 make",
        "make 2>&1 | tail -20",
        "make -j4 all 2>&1 | head -n 50",
        "make >/dev/null",
        "make test 2>/dev/null && npm test 2>&1 | wc -l",
        "CI=1 make 2>&1|tail -n+3",
        "make | tail -c 100 | head",
    ],
)
def test_what_models_write_around_a_command_is_covered(command: str) -> None:
    assert allowed(command)


@pytest.mark.parametrize(
    "command",
    [
        "CI=1",
        "CI=1; npm test",
        '"CI=1" npm test',
        "CI=$(rm x) npm test",
        "CI=`rm x` npm test",
        "CI=~/x npm test",
        "CI=* npm test",
        "CI+=1 npm test",
        "CI[$(rm x)]=1 npm test",
        "LANG=../../x npm test",
        "TZ=/etc/passwd npm test",
        "TZ=../x npm test",
        "NODE_ENV=production npm test",
        "CI=1 rm x",
        "make 2>&1 | tail -20 x",
        "make | tail -f",
        "make | tail -n 5 /etc/passwd",
        "make | tail *",
        "make | 'tail' -5",
        "make | ./tail -5",
        "make | sh",
        "make && tail -20",
        "tail -20 | make",
        "make; head",
        "make > out",
        "make >/dev/nullx",
        "make >/dev/null/../x",
        "make 2>&1x",
        "make 2>&3",
        "make 3>/dev/null",
        "make &>/dev/null",
        "make 2>&1 &",
        "2>&1",
    ],
)
def test_nothing_else_is(command: str) -> None:
    assert not allowed(command)


STEERING = (
    "PATH", "LD_PRELOAD", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "NODE_OPTIONS", "NODE_PATH",
    "PYTHONPATH", "PYTHONSTARTUP", "PYTHONWARNINGS", "PYTHONHOME", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_DIR",
    "GIT_CONFIG_COUNT", "GIT_PAGER", "PAGER", "EDITOR", "BASH_ENV", "ENV", "IFS", "SHELLOPTS", "PS4", "HOME",
    "SHELL", "MAKEFLAGS", "CC", "CXX", "RUSTC_WRAPPER", "npm_config_script_shell", "NPM_CONFIG_PREFIX",
    "JAVA_TOOL_OPTIONS", "PERL5OPT", "RUBYOPT", "GOFLAGS", "DJANGO_SETTINGS_MODULE", "RAILS_ENV",
    "DATABASE_URL", "AWS_PROFILE", "KUBECONFIG", "DOCKER_HOST", "HTTPS_PROXY", "TMPDIR", "LOCPATH",
    "LESSOPEN",
)  # fmt: skip
values = st.text("abc012/.:-_=~*", max_size=12)
harmless = st.sampled_from(["CI=1", "NO_COLOR=1", "NODE_ENV=test", "TZ=UTC", "LC_ALL=C"])


@given(st.lists(harmless, max_size=3), st.sampled_from(STEERING), values, st.lists(harmless, max_size=3))
def test_no_assignment_that_steers_a_program_is_covered(
    before: list[str], name: str, value: str, after: list[str]
) -> None:
    assert not is_harmless(name, value)
    assert not allowed(" ".join([*before, f"{name}={value}", *after, "npm test"]))


@given(
    st.lists(st.one_of(harmless, st.sampled_from(STEERING).map("{}=x".format)), max_size=4),
    st.sampled_from(["", " 2>&1 | tail -5"]),
)
def test_a_deny_rule_sees_through_all_of_it(before: list[str], behind: str) -> None:
    rule = parse_rule("exec(git push)", denies=True)
    assert denies_command(rule, " ".join([*before, f"git push origin{behind}"])) == Certainty.CERTAIN


@given(st.lists(harmless, min_size=1, max_size=3))
def test_a_rule_with_an_assignment_is_that_text_alone(before: list[str]) -> None:
    """Remembering `CI=1 npm run x` does not allow `npm run x`."""
    command = " ".join([*before, "npm run x"])
    rule = parse_rule(suggest("exec", command))
    assert allows_command([rule], command) is not None
    assert allows_command([rule], "npm run x") is None


def test_a_command_that_gets_a_secret_is_piped_into_nothing_else() -> None:
    rule = parse_rule("exec(gh *) with GH_TOKEN")
    assert allows_command([rule], "gh pr list") is not None
    assert allows_command([rule], "gh pr list | tail -5") is None
