"""The rule offered beside the exact one: a command with any arguments, and never one that runs others."""

import pytest

from sightline.settings import Policy
from sightline.settings.rules._prefix import prefix_rule
from sightline.tools import Need


@pytest.mark.parametrize(
    ("command", "rule"),
    [
        ("npm test", "exec(npm test *)"),
        ("npm test -- --watch", "exec(npm test *)"),
        ("npm run build --verbose", "exec(npm run build *)"),
        ("cargo clippy --all", "exec(cargo clippy *)"),
        ("pytest tests/a.py -x", "exec(pytest *)"),
    ],
)
def test_a_command_with_other_arguments(command, rule):
    """The subcommand belongs to the prefix, and to a script its name. Outside the sandbox arguments decide what is
    written and run: there is none."""
    assert prefix_rule(command) == ""
    assert prefix_rule(command, sandboxed=True) == f"{rule} sandboxed"


NEVER = """\
bash -c ls
sh x.sh
python x.py
python3 -m pytest
node x.js
perl -e 1
sudo npm test
env npm test
xargs npm test
find . -exec rm {} +
git -c core.pager=sh log
git push origin
git fetch --upload-pack=sh
git rebase --exec sh
npx jest
npm exec jest
npm run
npm run -s build
npm
rm file
make test
docker run x
ssh host
npm test && rm x
npm test; rm x
npm test | tee x
npm test > x
CI=1 npm test
npm test $(id)
npm test `id`
npm test *.js
npm test ~
npm 'test'
./npm test
npm  test
""".splitlines()


@pytest.mark.parametrize("command", [*NEVER, "npm test\nrm x", "npm test\trm", " npm test", ""])
def test_no_prefix_for_what_a_rule_cannot_bound(command):
    """Shells, interpreters, what runs others, compounds, expansions: the exact rule is all there is."""
    assert prefix_rule(command) == ""
    assert prefix_rule(command, sandboxed=True) == ""


def test_what_writes_where_it_is_told_is_for_the_sandbox():
    """`git log --output=FILE` writes."""
    assert prefix_rule("git log -3") == ""
    assert prefix_rule("git log -3", sandboxed=True) == "exec(git log *) sandboxed"


def test_a_policy_offers_what_then_allows_and_no_more(tmp_path):
    """In the sandbox and its folder; a rule that denies still wins, and another command is still asked about."""
    policy = Policy("edit", [], [], tmp_path, guarded=())

    def boxed(command: str) -> Need:
        return Need("exec", command, True, where=str(tmp_path / "app"))

    rule = policy.prefix(boxed("npm test -- a"))
    assert rule == "exec(npm test *) sandboxed in app"
    allowed = policy.with_allowed(rule)
    assert allowed.decide(boxed("npm test -- b")).verdict == "allow"
    for other in ("npm install x", "npm test; rm x", "npm test $(rm x)", "npm test > x"):
        assert allowed.decide(boxed(other)).verdict == "ask", other
    assert allowed.decide(Need("exec", "npm test", where=str(tmp_path / "app"))).verdict == "ask"
    assert policy.prefix(Need("exec", "npm test -- a", where=str(tmp_path / "app"))) == ""
    denying = Policy("edit", [], ["exec(npm test *)"], tmp_path, guarded=())
    assert denying.prefix(boxed("npm test -- a")) == ""
