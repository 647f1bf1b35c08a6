"""Where a rule about commands holds: in the sandbox or outside, and in which folder; and that it means its words."""

import time

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.settings import Policy, RuleMistake, allows_alone, anchored, parse_rule
from sightline.settings.rules._denial import Certainty, certainty
from sightline.settings.rules._rules import Rule, allows_command, matches_host, matches_path, suggest


class Need(msgspec.Struct, frozen=True):
    what: str
    sandboxed: bool = False
    where: str = ""
    access: str = "exec"
    exposed: tuple[str, ...] = ()


@pytest.fixture
def workspace(tmp_path):
    """A repository with a folder, and with another repository in it."""
    work = tmp_path / "work"
    for folder in (".git", "packages/web", "nested/.git", "nested/deep"):
        (work / folder).mkdir(parents=True)
    (work / "submodule").mkdir()
    (work / "submodule" / ".git").write_text("gitdir: ../.git/modules/submodule\n")
    return work


def verdict(policy, what, *, sandboxed=False, where=""):
    return policy.decide(Need(what, sandboxed, str(where))).verdict


def test_always_for_a_sandboxed_command_is_for_the_sandbox(workspace):
    """The rule that comes of the answer allows the same command there, and not outside."""
    policy = Policy("edit", [], [], workspace)
    suggestion = policy.decide(Need("make", sandboxed=True)).suggestion
    assert suggestion == "exec(make) sandboxed"
    more = policy.with_allowed(suggestion)
    assert verdict(more, "make", sandboxed=True) == "allow"
    assert verdict(more, "make") == "ask"


def test_a_command_whose_sandbox_cannot_hold_it_is_not_one_in_the_sandbox(workspace):
    """Neither for a rule nor for what is suggested."""
    policy = Policy("edit", ["exec(make) sandboxed"], [], workspace)
    decision = policy.decide(Need("make", sandboxed=True, exposed=(".git/config",)))
    assert (decision.verdict, decision.suggestion) == ("ask", "exec(make)")


def test_a_rule_does_not_hold_in_a_nested_repository(workspace):
    """In the workspace and its folders; in a repository below, and elsewhere, only when it says so."""
    policy = Policy("edit", ["exec(make)"], [], workspace)
    assert verdict(policy, "make") == "allow"
    assert verdict(policy, "make", where=workspace / "packages" / "web") == "allow"
    for other in ("nested", "nested/deep", "submodule", "..", "../elsewhere"):
        assert verdict(policy, "make", where=workspace / other) == "ask", other


def test_a_rule_for_a_folder_holds_there(workspace):
    """And is what an answer suggests for a folder that is not the workspace."""
    policy = Policy("edit", [], [], workspace)
    decision = policy.decide(Need("make", True, str(workspace / "nested" / "deep")))
    assert decision.suggestion == "exec(make) sandboxed in nested/deep"
    more = policy.with_allowed(decision.suggestion)
    assert verdict(more, "make", sandboxed=True, where=workspace / "nested" / "deep") == "allow"
    assert verdict(more, "make", sandboxed=True, where=workspace / "nested") == "ask"
    assert verdict(more, "make", sandboxed=True) == "ask"
    outside = policy.decide(Need("make", False, str(workspace.parent))).suggestion
    assert outside == f"exec(make) in {workspace.parent}"
    assert verdict(policy.with_allowed(outside), "make", where=workspace.parent) == "allow"
    assert verdict(policy.with_allowed(outside), "make") == "ask"  # the workspace is a repository below it


def test_a_link_is_where_it_leads(workspace):
    """A folder that is a link into a nested repository is that repository."""
    (workspace / "link").symlink_to(workspace / "nested")
    assert verdict(Policy("edit", ["exec(make)"], [], workspace), "make", where=workspace / "link") == "ask"


MOVED = [
    "cd nested && make",
    "cd nested; make",
    "cd nested || make",
    "pushd nested && make",
    "cd - && make",
    "popd; make",
    "command cd nested && make",
    "export PATH=nested && make",
    "hash -p nested/x make && make",
    "alias make=x; make",
    "eval 'cd nested' && make",
    ". nested/env && make",
    "printf -v PATH nested && make",
    "cd nested | make && make",
]


@pytest.mark.parametrize("command", MOVED)
def test_what_follows_a_change_is_another_command(workspace, command):
    """However wide the rules for its parts are; only a rule for the whole allows it."""
    wide = [
        f"exec({program} *)" for program in ("cd", "pushd", "popd", "command", "export", "hash", "alias", "eval", ".")
    ]
    rules = [*wide, "exec(printf *)", "exec(make)", "exec(make *)"]
    assert verdict(Policy("edit", rules, [], workspace), command) == "ask"
    suggestion = Policy("edit", [], [], workspace).decide(Need(command)).suggestion
    assert verdict(Policy("edit", [suggestion], [], workspace), command) == "allow"


@pytest.mark.parametrize(
    ("rule", "command", "expected"),
    [
        ("exec(make *)", "make -C nested", False),
        ("exec(make *)", "make -kC nested", False),
        ("exec(make *)", "make --directory=nested all", False),
        ("exec(make *)", "make --dir nested", False),
        ("exec(make *)", "make all -j4", True),
        ("exec(make -C * all)", "make -C nested all", True),
        ("exec(git *)", "git -C nested status", False),
        ("exec(git *)", "git --git-dir nested/.git status", False),
        ("exec(git *)", "git diff -C", True),
        ("exec(git log *)", "git log -C", True),
        ("exec(env *)", "env -C nested make", False),
        ("exec(grep *)", "grep -C 3 x", True),
    ],
)
def test_a_star_takes_no_option_that_changes_the_folder(rule, command, expected):
    """Such an option has to be named."""
    assert (allows_command([parse_rule(rule)], command) is not None) is expected


@pytest.mark.parametrize(
    ("rule", "command", "expected"),
    [
        ("exec(test *)", "test -v 'a[$(make)]'", False),
        ("exec(printf *)", "printf -v 'a[$(make)]' x", False),
        ("exec(read *)", "read 'a[`make`]'", False),
        ("exec(declare *)", "declare 'a[$(make)]=1'", False),
        ("exec(let *)", "let 'a[$(make)]=1'", False),
        ("exec(printf -v a*)", "printf -v 'a[$(make)]'", False),
        ("exec(printf *)", "printf '%s [$]' x", False),
        ("exec(printf *)", "printf '%s $' x", True),
        ("exec(test *)", "test -e 'a[1]'", True),
        ("exec(printf '$[x]')", "printf '$[x]'", True),
    ],
)
def test_a_star_takes_no_subscript_that_the_shell_runs(rule, command, expected):
    """Bash runs what stands in the subscript of a variable that its own commands are given, quoted or not."""
    assert (allows_command([parse_rule(rule)], command) is not None) is expected


QUOTED = [
    ("rm -rf '~'", "rm -rf ~"),
    ("rm '*'", "rm *"),
    ("rm '*.py'", "rm *.py"),
    ("ls '[a]'", "ls [a]"),
    ("ls 'a?'", "ls a?"),
    ("make 'CC=~/x'", "make CC=~/x"),
    ("ls 'a:~'", "ls a:~"),
    ("rm '{a,b}'", "rm {a,b}"),
    ("echo '!x'", "echo !x"),
    ("echo '$x'", "echo $x"),
    ("echo '=ls'", "echo =ls"),
]


@pytest.mark.parametrize(("literal", "expanded"), QUOTED)
def test_quoting_is_part_of_a_rule(literal, expanded):
    """What means itself and what a shell expands are two commands, whichever of them was allowed."""
    for one, other in ((literal, expanded), (expanded, literal)):
        rule = parse_rule(suggest("exec", one))
        assert allows_command([rule], one) is not None
        assert allows_command([rule], other) is None, f"{rule} allows {other}"
    assert (
        allows_command([parse_rule(suggest("exec", literal))], literal.replace("'", '"')) is not None or "$" in literal
    )


def test_quotes_that_change_nothing_change_nothing():
    """A plain word is the same in quotes."""
    assert allows_command([parse_rule("exec(git push origin)")], "git 'push' \"origin\"") is not None
    assert allows_command([parse_rule("exec(ls ~/src/*)")], "ls ~/src/a") is not None
    assert allows_command([parse_rule("exec(ls ~/src/*)")], "ls '~/src/a'") is None
    assert allows_command([parse_rule("exec(ls x*)")], "ls *='x'") is None


@pytest.mark.parametrize("what", ["x" * 2001, "*", "*x y", "", " ", "echo 'a" + "b" * 2000])
def test_what_no_rule_can_say_exactly_has_no_suggestion(workspace, what):
    """Not the whole class in its place."""
    decision = Policy("edit", [], [], workspace).decide(Need(what))
    assert (decision.verdict, decision.suggestion) == ("ask", "")


CHARACTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
RULES = st.builds(
    Rule,
    st.just("exec"),
    st.text(CHARACTERS, min_size=1).filter(lambda text: text.strip() == text != ""),
    st.booleans(),
    st.booleans(),
    st.text(CHARACTERS).filter(lambda text: text.strip() == text and ".." not in text),
    st.sampled_from([(), ("GITHUB_TOKEN",), ("AWS_*", "A")]),
)


@given(RULES)
def test_a_rule_is_read_as_it_is_written(rule):
    """Whatever is in its pattern and in its folder."""
    try:
        assert parse_rule(str(rule), denies=not rule.passed) == rule
    except RuleMistake:
        assert not rule.pattern.strip() or "*" in rule.pattern.split()[0]


@given(
    st.text(min_size=1, max_size=30), st.booleans(), st.sampled_from(["", "a b", "x (1)", "deep/er", 'q"uote', "n\nl"])
)
def test_a_suggested_rule_is_about_its_command_and_its_place(command, sandboxed, folder):
    """Parsed again, it has them all."""
    suggestion = suggest("exec", command, sandboxed=sandboxed, folder=folder)
    if suggestion:
        rule = parse_rule(suggestion)
        assert (rule.sandboxed, rule.folder) == (sandboxed, folder)
        assert allows_command([rule], command) is not None


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("exec(make) elsewhere", "write class"),
        ("exec(make) in", "write class"),
        ("exec(make) in ../x", "folder itself"),
        ("exec(make) in web sandboxed", "before in FOLDER"),
        ("exec exactly", "needs a command"),
        ("read(x) sandboxed", "only a rule for commands"),
        ('exec(make) in "a', "JSON"),
    ],
)
def test_a_scope_that_cannot_be_read_says_why(text, hint):
    """As every mistake in a rule."""
    with pytest.raises(RuleMistake) as caught:
        parse_rule(text)
    assert hint in caught.value.hint


def test_one_rule_for_the_sandbox_is_enough_there(workspace):
    """For who changes a rule before it is taken."""
    assert allows_alone("exec(make) sandboxed", "exec", "make", workspace, sandboxed=True)
    assert not allows_alone("exec(make) sandboxed", "exec", "make", workspace)
    assert not allows_alone("exec(make)", "exec", "make", workspace, where=str(workspace / "nested"))


def test_a_denied_folder(workspace):
    """Below it too, in nested repositories, and for a command that goes there; elsewhere not."""
    policy = Policy("full", [], ["exec(make) in nested"], workspace)
    assert verdict(policy, "make") == "allow"
    for where in ("nested", "nested/deep"):
        assert verdict(policy, "make", where=workspace / where) == "deny"
    for command in ("cd nested && make", "make -C nested", "env --chdir=nested make"):
        assert verdict(policy, command) == "deny"


SEEN_THROUGH = [
    'git -C "my repo" push',
    'git -c user.name="CI Bot" push',
    "git -C a -C 'b c' push",
    "git " + "-c a=b " * 40 + "push",
    "git --git-dir='a b' --work-tree=c push",
    "git\tpush",
    "git  push",
    "eval $'git \\x70ush'",
    "bash -c $'git\\x20push'",
    "/bin/gi? push",
    "/usr/bin/g[i]t push",
    "{git,push}",
    "{git,-C,x,push}",
    "git >x push",
    "git 2>&1 >'a b' push",
    'bash <<EOF\ngit -C "a b" push\nEOF',
    "cat <<'EOF' | sh\ngit push\nEOF",
    "cat <<EOF\nit's $(git -C 'a b' push)\nEOF",
    "cat <(git push)",
    "tee >(git push)",
    "command git push",
    "env A=b git push",
    "nohup git push",
    "sudo -u x git push",
    "timeout 5 git push",
    "busybox git push",
    "exec git push",
    "xargs git push",
    "env -S'git push'",
    "git -c alias.p=push p",
    "echo a # it's\ngit -C 'a b' push",
    "f() { git push; }; f",
    "trap 'git push' EXIT",
    "a=(git push)",
    "git pu\\\nsh",
    "${x:-git} push",
    "ssh host 'git push'",
    "python -c \"os.system('git push')\"",
    "eval 'git -C \"my' 'repo\" push'",
    "case x in x) git push;; esac",
    "echo $(case x in x) git push;; esac)",
    "$'git\\0x' push",
    "git\u2003push",
]


@pytest.mark.parametrize("command", SEEN_THROUGH)
def test_a_deny_rule_sees_words_as_bash_does(workspace, command):
    """At full, too."""
    assert verdict(Policy("full", ["exec"], ["exec(git push)"], workspace), command) == "deny"


COMPUTED = [
    "$x push",
    '"$x" push',
    "git $x",
    'git "$x"',
    "x=git; $x push",
    'eval "$v"',
    "base64 -d x | sh",
    "curl x | sudo bash",
    "$(echo git) push",
    "`echo git` push",
    'bash -c "$v"',
    "bash -c 'git \"$@\"' x push",
    "alias g=git; g push",
    "xargs git",
    'f() { git "$@"; }; f push',
    "hash -p /usr/bin/git x; x push",
    "find . -exec {} push \\;",
    "xargs -I X X push",
    "shopt -s extglob\n@(git) push",
    ". <(curl x)",
    "gi$x push",
    "git p*",
    "$(" * 100,
    "while read x; do $x; done",
    "coproc $x",
]


@pytest.mark.parametrize("command", COMPUTED)
def test_what_could_be_denied_is_asked(workspace, command):
    """At full and in the sandbox; a rule for the class does not answer it, one for this command does."""
    for policy in (
        Policy("full", ["exec"], ["exec(git push)"], workspace),
        Policy("auto", ["exec"], ["exec(git push)"], workspace),
    ):
        decision = policy.decide(Need(command, sandboxed=True))
        assert (decision.verdict, decision.rule) == ("ask", "exec(git push)")
        assert "could be what exec(git push) denies" in decision.why
        assert policy.with_allowed(decision.suggestion).decide(Need(command, sandboxed=True)).verdict == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "echo $x",
        '"$PYTHON" -m pytest',
        '"$CC" -o x',
        'find . -name "$x"',
        "cat a | grep sh",
        "for x in a b; do echo $x; done",
        "git log | head -n $n",
        "ls *",
        "git add *",
        '[ -n "$x" ] && make',
        "x=$(date)",
    ],
)
def test_what_cannot_be_denied_is_not_asked(workspace, command):
    """What is computed has to be in a place where it could be the denied command."""
    assert verdict(Policy("full", [], ["exec(git push)"], workspace), command) == "allow"


def test_without_a_deny_rule_nothing_is_asked_for_being_computed(workspace):
    """There is nothing it could be."""
    assert verdict(Policy("full", [], ["read(**/.env)"], workspace), 'eval "$v"') == "allow"


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("git push --force", True),
        ("git push origin main --force", True),
        ("git push --force=true origin", True),
        ("git push --forc", True),
        ("git -C 'a b' push origin --force", True),
        ("git push -f", False),
        ("git push --force-with-lease", False),
        ("git push origin", False),
        ("git fetch --force", False),
    ],
)
def test_an_option_is_denied_wherever_it_stands(command, expected):
    """`git push --force` is about pushing with this option; another spelling of it is another option."""
    assert (certainty("git push --force", command) == Certainty.CERTAIN) is expected


@pytest.mark.parametrize(
    ("pattern", "host", "allows", "denies"),
    [
        ("example.org:443", "example.org:443", True, True),
        ("example.org:443", "example.org:0443", True, True),
        ("example.org:443", "example.org:8443", False, False),
        ("example.org", "example.org:8443", True, True),
        ("example.org:443", "example.org", False, True),
        ("[::1]:80", "[::1]:80", True, True),
        ("[::1]:80", "[::1]:81", False, False),
        ("*a*a*a*a*a*a*a*a*b", "a" * 200, False, False),
    ],
)
def test_a_port_is_part_of_a_host(pattern, host, allows, denies):
    """Without one the rule is about every port; a host whose port is not known is denied by a rule about any."""
    assert matches_host(parse_rule(f"network({pattern})"), host) is allows
    assert matches_host(parse_rule(f"network({pattern})"), host, denies=True) is denies


LONG = {
    "words": "ab " * 340_000,
    "options": "git -x " * 150_000,
    "quotes": "'a' " * 250_000,
    "dollars": "$x " * 340_000,
    "one word": "a" * 1_000_000,
    "substitutions": "$(" * 500_000,
    "braces": "{a,b}" * 200_000,
    "heredocs": "<<a " * 250_000,
    "nested quotes": "sh -c '" * 140_000,
    "backticks": "`" * 1_000_000,
    "globs": "a*" * 500_000,
    "backslashes": "\\" * 1_000_000,
    "newlines": "a\n" * 500_000,
    "parameters": "${a:-" * 200_000,
    "different": " ".join(map(str, range(150_000))),
    "make options": "make " + "-C x " * 200_000,
    "equals": "a=" * 500_000,
    "open": "(" * 1_000_000,
    "shells": "x | env " + "bash " * 24_000,
    "brackets": "b[[:[:" * 20_000,
    "continued": "git 1" + "\\\n1" * 40_000,
}


@pytest.mark.parametrize("command", LONG.values(), ids=LONG)
def test_a_megabyte_is_decided_in_proportion(workspace, command):
    """A quarter of it takes about a quarter of the time; patterns with many stars change nothing about that."""
    stars = " ".join(["a*b*c*d"] * 20)
    allow = [f"exec(git {'* x ' * 50})", f"exec(ab {stars})", "exec(make *)", "exec(a * b * c)"]
    policy = Policy("edit", allow, ["exec(git push)", f"exec(git {'* y ' * 10})", "exec(*a*b*c*d*e*f)"], workspace)

    def seconds(text):
        began = time.process_time()
        policy.decide(Need(text))
        return time.process_time() - began

    quarter = seconds(command[: len(command) // 4])
    assert seconds(command) < 8 * quarter + 1


def test_stars_in_paths_do_not_multiply():
    """Neither in a name nor across folders."""
    began = time.process_time()
    path = "/w/" + "a" * 255 + "/" + "a/" * 1500 + "b"
    for pattern in ("*a" * 60 + "b", "**/" + "*a*/**/" * 60 + "c", "**/a/" * 200 + "x", "?*" * 100 + "z"):
        assert not matches_path(parse_rule(f"read({pattern})"), path, workspace="/w", home="/h")
    assert time.process_time() - began < 3


@pytest.mark.parametrize(
    ("rule", "elsewhere", "denied_elsewhere"),
    [
        ("read", "read", "read"),
        ("write(docs/**)", "write(/a/docs/**)", "write(/a/docs/**)"),
        ("read(**/.env)", "read(/a/**/.env)", "read(/a/**/.env)"),
        ("read(/etc/hosts)", "read(/etc/hosts)", "read(/etc/hosts)"),
        ("read(~/notes/*)", "read(~/notes/*)", "read(~/notes/*)"),
        ("exec", "exec in /a", "exec"),
        ("exec(make *)", "exec(make *) in /a", "exec(make *)"),
        ("exec(make) sandboxed in web", "exec(make) sandboxed in /a/web", "exec(make) sandboxed in /a/web"),
        ("exec(make) in ~/web", "exec(make) in ~/web", "exec(make) in ~/web"),
        ("network(*.org)", "network(*.org)", "network(*.org)"),
    ],
)
def test_a_rule_with_its_workspace_named(rule, elsewhere, denied_elsewhere):
    """It means the same in every other; what is denied everywhere stays so."""
    assert anchored(rule, "/a") == elsewhere
    assert anchored(rule, "/a", denies=True) == denied_elsewhere
    assert anchored(elsewhere, "/b") == elsewhere


def test_a_workspace_with_a_star_in_its_name_is_named_as_itself():
    """The star is a character of the name, not a pattern."""
    rule = parse_rule(anchored("write(docs/**)", "/a*"))
    assert matches_path(rule, "/a*/docs/x", workspace="/b", home="/home")
    assert not matches_path(rule, "/ab/docs/x", workspace="/b", home="/home")
