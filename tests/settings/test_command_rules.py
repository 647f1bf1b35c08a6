"""Rules about commands: an allow rule lets nothing through that it does not say, a deny rule lets nothing slip by."""

import re
import time

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sightline.settings import RuleMistake, parse_rule
from sightline.settings.rules._command_line import understand
from sightline.settings.rules._denial import Certainty
from sightline.settings.rules._rules import allows_command, denies_command, suggest


def allowed(command, *rules):
    return allows_command([parse_rule(rule) for rule in rules], command) is not None


def denied(command, rule):
    return denies_command(parse_rule(rule, denies=True), command) == Certainty.CERTAIN


FOLLOWED = {
    "semicolon": "git status; rm -rf x",
    "semicolon alone": "git status;",
    "semicolon without space": "git status;rm",
    "and": "git status && rm x",
    "and alone": "git status &&",
    "or": "git status || rm x",
    "pipe": "git status | sh",
    "pipe with stderr": "git status |& sh",
    "background": "git status &",
    "background and more": "git status & rm x",
    "newline": "git status\nrm x",
    "newline alone": "git status\n",
    "carriage return": "git status\rrm x",
    "substitution": "git status $(rm x)",
    "substitution in a word": "git status$(rm x)",
    "backticks": "git status `rm x`",
    "substitution in quotes": 'git status "$(rm x)"',
    "redirect out": "git status > x",
    "redirect without space": "git status>x",
    "append": "git status >> x",
    "clobber": "git status >| x",
    "redirect both": "git status &> x",
    "numbered redirect": "git status 2>x",
    "redirect in": "git status < x",
    "heredoc": "git status << EOF\nrm x\nEOF",
    "here string": "git status <<< x",
    "process substitution in": "git status <(rm x)",
    "process substitution out": "git status >(rm x)",
    "argument": "git status --short",
    "variable": "git status $x",
    "braced variable": "git status ${x}",
    "expansion that runs code": "git status ${x:-$(rm x)}",
    "prompt expansion": "git status ${x@P}",
    "arithmetic": "git status $((x[$(rm y)]))",
    "ansi quotes": "git status $'\\n'",
    "comment": "git status # rm",
    "comment and newline": "git status #\nrm x",
    "brace expansion": "git status {a,b}",
    "escaped newline": "git status \\\n--short",
}


@pytest.mark.parametrize("command", [pytest.param(command, id=name) for name, command in FOLLOWED.items()])
def test_a_rule_for_git_status_allows_nothing_behind_it(command):
    """Whatever shell control follows, the rule is about something else."""
    assert allowed("git status", "exec(git status)")
    assert not allowed(command, "exec(git status)")


@pytest.mark.parametrize("command", [pytest.param(command, id=name) for name, command in FOLLOWED.items()])
def test_a_star_stands_for_arguments_and_for_no_shell_control(command):
    """`git status *` allows further plain words, and nothing else of the above."""
    assert allowed(command, "exec(git status *)") == (command == "git status --short")


@pytest.mark.parametrize(
    "command",
    [
        "FOO=bar git status",
        "PATH=. git status",
        "git\\ status",
        "g\\it status",
        "'git' status",
        '"git" status',
        "gi't' status",
        "git st''atus",
        "./git status",
        "/tmp/git status",
        "command git status",
        "time git status",
        "! git status",
        "(git status)",
        "{ git status; }",
        "if git status",
        "git -c core.pager=x status",
        "\u00a0git status",
        "git\u00a0status",
        "git status\u202e",
        "git status \x00",
        "eval git status",
        "~git status",
        "",
    ],
)
def test_tricks_in_front_and_inside_are_not_allowed(command):
    """Prefixes, escapes and quotes make it another command as far as a rule is concerned."""
    assert not allowed(command, "exec(git status)", "exec(git status *)")


METACHARACTERS = ";&|\n`$<>(){}\\#\r!"


@given(
    st.text(alphabet=METACHARACTERS + " \tabgist'\"=*?[]~-./\u00a0é", max_size=12),
    st.sampled_from(METACHARACTERS),
    st.text(alphabet=METACHARACTERS + " \tabgist'\"=*?[]~-./\u00a0é", max_size=12),
)
def test_no_suffix_with_a_metacharacter_is_allowed(before, character, after):
    """Whatever is appended to an allowed command with shell control in it, the rule for it alone does not pass it."""
    command = "git status" + before + character + after
    parts = command.replace("&&", ";").replace("||", ";").replace("|", ";").split(";")
    assume(any([word for word in re.split("[ \t]", part) if word] != ["git", "status"] for part in parts))
    assert not allowed(command, "exec(git status)")


@given(st.text(max_size=40))
def test_what_is_understood_is_what_a_shell_would_run(text):
    """Words that are understood are read the same way by an independent reader of shell words."""
    import shlex

    line = understand(text)
    if line is None:
        return
    lexer = shlex.shlex(text, posix=True, punctuation_chars=";&|")
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t", True, ""
    words = []
    for index, command in enumerate(line.commands):
        words += [word.text for word in command] + [*line.operators[index : index + 1]]
    assert list(lexer) == words


@pytest.mark.parametrize(
    ("rule", "command", "expected"),
    [
        ("exec(git status *)", "git status", True),
        ("exec(git status *)", "git status -s -b", True),
        ("exec(git status *)", "git statusx", False),
        ("exec(git * --oneline)", "git log --oneline", True),
        ("exec(git * --oneline)", "git log -3 main --oneline", True),
        ("exec(git * --oneline)", "git log --oneline -3", False),
        ("exec(pytest tests/test_*.py)", "pytest tests/test_a.py", True),
        ("exec(pytest tests/test_*.py)", "pytest tests/test_a.py -x", False),
        ("exec(pytest tests/test_*.py)", "pytest 'tests/test_a b.py'", True),
        ("exec(pytest tests/test_*.py)", "pytest tests/test_a*.py", False),
        ("exec(ls *)", "ls *.py", True),
        ("exec(ls '*.py')", "ls *.py", False),
        ("exec(ls '*.py')", 'ls "*.py"', True),
        ("exec(ls *.py) exactly", "ls *.py", True),
        ("exec(ls *.py) exactly", "ls a.py", False),
        ("exec(ls '*.py')", "ls a.py", False),
        ('exec(git commit -m "a b")', "git commit -m 'a b'", True),
        ("exec(git commit *)", "git commit -m 'a; rm -rf $(x) `y` > z'", True),
        ("exec(git commit *)", 'git commit -m "one\ntwo"', True),
        ("exec(git commit *)", 'git commit -m "$(rm x)"', False),
        ("exec(echo *)", "echo 'a\\' b '; rm x; '", False),
        ("exec(git log *)", "git log --format='%h %s'", True),
        ("exec(make)", "make", True),
        ("exec(make)", "  make ", True),
        ("exec(make)", "make test", False),
        ("exec", "anything; at > all `x`", True),
        ("exec(make > log.txt)", "make > log.txt", True),
        ("exec(make > log.txt)", "make > other.txt", False),
        ("exec(for f in *; do echo $f; done)", "for f in *; do echo $f; done", True),
        ("exec(for f in *; do echo $f; done)", "for f in a; do echo $f; done", False),
        ("exec(a && b *)", "a && b c", True),
        ("exec(a && b *)", "a ; b c", False),
        ("exec(a && b *)", "b c", False),
    ],
)
def test_patterns(rule, command, expected):
    """Stars, quotes, compounds and the verbatim form."""
    assert allowed(command, rule) is expected


@pytest.mark.parametrize("operator", ["&&", "||", ";", "|"])
def test_a_compound_is_allowed_when_each_part_is(operator):
    """Between allowed commands the safe operators are allowed; one part that is not spoils it."""
    assert allowed(f"git status {operator} wc -l", "exec(git status)", "exec(wc *)")
    assert not allowed(f"git status {operator} rm x", "exec(git status)", "exec(wc *)")
    assert not allowed(f"git status {operator} wc -l > x", "exec(git status)", "exec(wc *)")


@pytest.mark.parametrize("operator", ["&", "\n", "|&", ";;", "&&&", "; ;"])
def test_other_operators_are_not_safe(operator):
    """Background, newline and anything malformed: not even between allowed commands."""
    assert not allowed(f"git status {operator} git status", "exec(git status)")


@pytest.mark.parametrize(
    "command",
    [
        "git push",
        "git push --force origin main",
        "cd x && git push",
        "make; git push",
        "echo $(git push)",
        "echo `git push`",
        "(git push)",
        "{ git push; }",
        "bash -c 'git push'",
        'sh -c "cd x; git push origin"',
        "sudo git push",
        "env A=b git push",
        "A=b git push",
        "/usr/bin/git push",
        "g\\it push",
        "gi''t pu\"sh\"",
        "git -C /elsewhere push",
        "git -c a=b --no-pager push",
        "xargs git push",
        "true\ngit push",
        "true & git push",
        "git${IFS}push",
        "g$@it push",
        "{git,push}",
        "cat <(git push)",
        "GIT PUSH",
        "if true; then git push; fi",
        "git \\\npush",
    ],
)
def test_a_deny_rule_finds_what_is_hidden(command):
    """In compounds, substitutions, quotes, behind wrappers and options, with more words behind it."""
    assert denied(command, "exec(git push)")
    assert denied(command, "exec(git push *)")


@pytest.mark.parametrize(
    "command", ["git status", "git stash push", "git log --grep=push", "git pull", "pushd git", "git log push"]
)
def test_a_deny_rule_leaves_other_commands_alone(command):
    """The same program with another word is another command."""
    assert not denied(command, "exec(git push)")


@pytest.mark.parametrize(
    ("rule", "command", "expected"),
    [
        ("exec", "anything", True),
        ("exec(* --force)", "git push --force", True),
        ("exec(* --force)", "git push", False),
        ("exec(rm -r*)", "find . -exec rm -rf {} +", True),
        ("exec(*sudo*)", "x; /usr/bin/sudo-rs y", True),
        ("exec(curl * | sh)", "curl x | sh", True),
        ("exec(curl * | sh)", "curl x | wc", False),
        ("exec(curl x | sh)", "cd y && curl x | sh", True),
    ],
)
def test_deny_patterns(rule, command, expected):
    """Stars may begin a pattern that denies; one of several commands is found where all of these are."""
    assert denied(command, rule) is expected


def test_a_long_command_does_not_take_long():
    """Looking for a denied command in a very long one is done in a moment."""
    started = time.process_time()
    assert not denied("git -a " * 20_000, "exec(git * * push *)")
    assert not allowed("git " + "-a " * 20_000, "exec(git * -b * -c *)")
    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "not a rule"),
        ("exec(git", "not a rule"),
        ("exec git", "not a rule"),
        ("run(git)", "not a rule"),
        ("exec()", "empty pattern"),
        ("exec( )", "empty pattern"),
        ("exec(* x)", "no program named"),
        ("exec(*)", "no program named"),
        ("write(../x)", "`..` in a path"),
        ("network(https://x.org/)", "not a host"),
        ("network(a b)", "not a host"),
    ],
)
def test_a_rule_that_cannot_be_read_says_why(text, says):
    """What is wrong, and a hint."""
    with pytest.raises(RuleMistake) as caught:
        parse_rule(text)
    assert says in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize(
    ("command", "rule"),
    [
        ("git push", "exec(git push)"),
        ("git  push   origin", "exec(git push origin)"),
        ("ls *.py", "exec(ls *.py) exactly"),
        ("ls '*.py'", "exec(ls '*.py')"),
        ("rm -rf ~", "exec(rm -rf ~)"),
        ("rm -rf '~'", "exec(rm -rf '~')"),
        ("git commit -m 'a b' && git push", "exec(git commit -m 'a b' && git push)"),
        ("make > log", "exec(make > log)"),
        ("echo it\\'s", "exec(echo it\\'s)"),
        ("x" * 3000, ""),
        ("*x", ""),
        ("", ""),
    ],
)
def test_the_suggestion_is_the_narrowest_rule(command, rule):
    """Exactly this command, or nothing where a pattern cannot say it."""
    assert suggest("exec", command) == rule


@given(st.text(min_size=1, max_size=30), st.text(max_size=10))
def test_a_suggested_rule_allows_its_command_and_not_another(command, more):
    """Whatever the command, the suggestion passes it; a changed command only if it means the same."""
    rule = suggest("exec", command)
    assume(rule)
    assert allowed(command, rule)
    other = command + more
    if allowed(other, rule) and other.strip(" \t") != command.strip(" \t"):
        assert understand(other) is not None
        assert suggest("exec", other) == rule


def same_in_bash(command):
    import subprocess

    script = f'printf() {{ builtin printf "%s\\0" "$@"; }}; {command}'
    return subprocess.run(["bash", "-c", script], capture_output=True, timeout=90)


@pytest.mark.parametrize(
    "words", ["a b", "'a b' c", "--x='y z' d", "'$(id)' '`id`' ';' '&&'", '"a b" "it\'s"', "~x^ %1 a=b @ +"]
)
def test_bash_itself_sees_the_same_words(words):
    """The words we understand are those the shell passes on."""
    line = understand(f"printf {words}")
    assert line is not None
    seen = same_in_bash(f"printf {words}").stdout.decode().split("\0")[:-1]
    assert seen == [word.text for word in line.commands[0][1:]]
