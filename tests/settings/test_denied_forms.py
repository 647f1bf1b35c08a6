"""Command lines with which bash runs `git push`, and that once were not seen to: each was run by a real bash."""

from pathlib import Path

import msgspec
import pytest

from sightline.settings import Policy


class Need(msgspec.Struct, frozen=True):
    what: str
    sandboxed: bool = False
    where: str = ""
    access: str = "exec"
    exposed: tuple[str, ...] = ()


HIDDEN = r"printf 'g\x69t push'"
READ = [
    "bash < <({0})",
    "bash 0< <({0})",
    'bash <<< "$({0})"',
    '{{ bash; }} <<< "$({0})"',
    "{{ bash; }} < <({0})",
    "( bash ) < <({0})",
    "if :; then bash; fi < <({0})",
    "f() {{ bash; }}; f < <({0})",
    "f() {{ bash; }}; {0} | f",
    "{{ bash; }} <<'E'\n$(echo git) push\nE",
    "exec < <({0}); bash",
    "exec 3< <({0}); bash <&3",
    "exec 3< <({0}); . /dev/fd/3",
    'exec 3<<< "$({0})"; bash <&3',
    "exec {{x}}< <({0}); bash <&$x",
    "bash /dev/fd/3 3< <({0})",
    "coproc {0}; bash <&${{COPROC[0]}}",
    "coproc {{ bash; }}; {0} >&${{COPROC[1]}}",
    "{0} > >(bash)",
    "{0} | tee >(bash)",
    "exec > >(bash); {0}",
    "cat <<'E' > >(bash)\n$(echo git) push\nE",
    "bash <<E\n$({0})\nE",
    "{0} | bin/b?sh",
    "{0} | bin/[b]ash",
    '{0} | "$BASH"',
    '{0} | "$x" -s',
    '{0} | "$x" env',
    '"$x" <<< "$({0})"',
    "{0} | env -S 'bash -s'",
    "{0} | bash -o errexit",
    "{0} | bash -eo pipefail",
    "{0} | bash +B",
    "{0} | bash -O extglob",
    "{0} | bash --rcfile x",
    "{0} | bash //dev/stdin",
    "{0} | bash /dev/../dev/stdin",
    "{0} | bash /dev/std?n",
    "{0} | bash /proc/thread-self/fd/0",
    "{0} | builtin source /dev/stdin",
    "{0} | command . /dev/stdin",
    "{0} | bash -c '. /dev/stdin'",
    "{0} | find . -exec bash \\;",
]
NAMED = [
    "bin/g[[:lower:]]t push",
    "bin/g[^x]t push",
    "bin/b?sh -c \"$'\\147it' push\"",
    "x=/git; bin$x push",
    "HOME=git; ~ push",
    "HOME=push; git ~",
    "OLDPWD=git; ~- push",
    "BASH_CMDS[ls]=bin/git; ls push",
    "BASH_CMDS=([x]=bin/git); x push",
    "BASH_ALIASES[x]=git; shopt -s expand_aliases\nx push",
    "declare -A BASH_ALIASES=([x]=git); shopt -s expand_aliases\nx push",
    "set git; for x do $x push; done",
    "x=git; prlimit --nofile=100 $x push",
    "git -c alias.x='push --force' x",
    "git -c alias.x='--no-pager \"push\"' x",
]
READ_AGAIN = [
    'echo "`bash -c \\"git push\\"`"',
    'echo "`git \\"push\\"`"',
    "x='$(g'; x+='it push)'; echo \"${x@P}\"",
    "PS4='$(gi'; PS4+='t push)'; set -x; :",
    "set -x; PS4='$(gi'; PS4=$PS4't push)'; :",
    "compgen -W \"$(printf '$(g\\x69t push)')\"",
    f"trap bash EXIT; exec < <({HIDDEN})",
    "echo $(case x in x) $(echo git) push;; esac)",
    "echo $(case x in a) ;; x) $(echo git) push;; esac); :",
    "env -S 'git\\_push'",
    "env -S 'git\\_-C\\_.\\_push'",
    "env -S 'bash -c \"git\\_push\"'",
    "env -S 'git push\\c garbage'",
    "env -S 'git # x' push",
    "env -S'git' push",
    "env --s='git\\_push'",
    "env -S 'env -S git\\_push'",
]
CONTINUED = [
    "git 1\\\n>/dev/null push",
    "git &\\\n> /dev/null push",
    "git {x\\\n}>/dev/null push",
    "git {x}\\\n>/dev/null push",
    "git {x[0]}>/dev/null push",
    "git >\\\n|/dev/null push",
    "git <\\\n<\\\n<x push",
    "$\\\n{x-git} push",
    "$\\\nx push",
    ": $\\\n(git push)",
    ": <\\\n(git push)",
    "cat <\\\n<E\n'\nE\ngit push",
]


@pytest.mark.parametrize("command", [*(each.format(HIDDEN) for each in READ), *NAMED, *READ_AGAIN, *CONTINUED])
def test_bash_runs_what_is_denied_and_it_is_not_allowed(command):
    """Denied, or asked where it cannot be known; at full."""
    policy = Policy("full", ["exec"], ["exec(git push)"], Path("/w"), guarded=())
    assert policy.decide(Need(command)).verdict != "allow"


@pytest.mark.parametrize(
    "command",
    [
        "bash build.sh | tee log",
        "bash -e build.sh < answers.txt | cat",
        "cat x | bash build.sh",
        "bash < build.sh",
        "bash <<'E'\nmake all\nE",
        "bash <<< 'make all'",
        "sudo apt-get install bash",
        "cat x | grep bash",
        "diff <(sort a) <(sort b)",
        'cat x | "$PYTHON" -m json.tool',
        "cd ~ && ls ~",
        "make < ~/x",
        "env -S 'make all'",
        "git -c alias.x='log --oneline' x",
        "for x in a b; do echo $x; done",
        "echo $[1+2]",
        "ls [[:lower:]]*",
    ],
)
def test_what_bash_reads_and_is_known_is_not_asked(command):
    """A script of its own, a here-document without anything computed: asking about these would be noise."""
    policy = Policy("full", [], ["exec(git push)"], Path("/w"), guarded=())
    assert policy.decide(Need(command)).verdict == "allow"


@pytest.mark.parametrize(
    "command", ["bash -c 'bin/[!_]m'", "sh -c 'bin/?m'", "f() ( bash -c 'bin/*m' )\nf", "eval 'bin/r?'"]
)
def test_a_file_pattern_names_a_program_in_nested_commands_too(command, tmp_path):
    """Bash expands it there as well."""
    assert Policy("full", [], ["exec(rm)"], tmp_path).decide(Need(command)).verdict != "allow"


@pytest.mark.parametrize("command", ["ls *", "cat ?m", "wc -l r*", "grep x [a-z]m"])
def test_a_file_pattern_among_arguments_is_no_program(command, tmp_path):
    """Who denies rm still lists files."""
    assert Policy("full", [], ["exec(rm)"], tmp_path).decide(Need(command)).verdict == "allow"


def test_blanks_behind_a_here_document_make_another_command(tmp_path):
    """With them its last line does not end it."""
    command = "bash <<E\ngit status\nE"
    policy = Policy("edit", [f"exec({command})"], [], tmp_path)
    assert policy.decide(Need(command)).verdict == "allow"
    assert policy.decide(Need(f"{command} ")).verdict == "ask"
