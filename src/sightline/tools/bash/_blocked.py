"""Hints for a failed command whose output looks as if the sandbox or a withheld variable made it fail."""

import re
from collections.abc import Iterable

from sightline.exec import SandboxSpec, sandbox_status

_WORDS = 8 * 1024  # characters at the end of the output that are searched
_HOSTS = 5  # refused ones that are named

_writing = re.compile(r"read-only file ?system|\bEROFS\b|could not (?:write|lock) config file", re.IGNORECASE)
_no_agent = re.compile(r"authentication agent|error connecting to agent", re.IGNORECASE)
_no_right = re.compile(r"permission denied|operation not permitted|\bE(?:ACCES|PERM)\b", re.IGNORECASE)
_network = re.compile(
    r"network is unreachable|could(?: not|n't) resolve|(?:temporary failure in )?name resolution"
    r"|name or service not known|nodename nor servname|no address associated with|failed to connect to"
    r"|connection refused|cannot assign requested address"
    r"|\b(?:ENETUNREACH|EAI_AGAIN|ENOTFOUND|ECONNREFUSED)\b|dns error|no such host|failed to lookup address",
    re.IGNORECASE,
)


def sandbox_hint(output: str, sandbox: SandboxSpec) -> str:
    """A line for a model whose sandboxed command failed; empty when it does not look like the sandbox's doing."""
    refused = sandbox.entrance.refused if sandbox.entrance is not None else {}
    failed = sandbox.entrance.failed if sandbox.entrance is not None else {}
    end = output[-_WORDS:]
    if refused:
        return (
            f"[hint: it ran in the sandbox, where connections were refused: {_listed(refused)}. If that is why it "
            "failed, continue without it or say in your answer what you could not do]"
        )
    if failed:
        return f"[hint: allowed connections failed: {_listed(failed)}]"
    if _writing.search(end) or (sandbox_status().kind == "landlock" and _no_right.search(end)):
        limit = "only the working folder can be written, and not git's hooks and config in it"
    elif sandbox.network or not _network.search(end):
        return ""
    elif sandbox.entrance is not None:
        limit = (
            "the network is reached through the proxy named by HTTP_PROXY, HTTPS_PROXY and ALL_PROXY alone, which a "
            "program has to use by itself; UDP and name servers are out of reach"
        )
    else:
        limit = "there is no network, and no server of another command can be reached"
    return (
        f"[hint: it ran in the sandbox, where {limit}. If that is why it failed and the task needs it, call bash with "
        "sandbox: false; the user is asked first]"
    )


def withheld_hint(command: str, output: str, withheld: Iterable[str]) -> str:
    """A line for a model whose failed command names a variable that was withheld from it; empty when it names none."""
    text = f"{command}\n{output[-_WORDS:]}"
    named = set(re.findall(r"[A-Za-z_][A-Za-z0-9_]*", text))
    missed = sorted(name for name in withheld if name in named or (name == "SSH_AUTH_SOCK" and _no_agent.search(text)))
    if not missed:
        return ""
    names = ", ".join(missed[:_HOSTS])
    return (
        f"[hint: {names} {'is' if len(missed) == 1 else 'are'} withheld from commands as secret. If that is why it "
        "failed, say so: the user can pass it with permissions.pass_env, or with a rule that ends with its name]"
    )


def _listed(hosts: dict[str, str]) -> str:
    named = "; ".join(f"{name} ({reason})" for name, reason in list(hosts.items())[:_HOSTS])
    return f"{named}; {len(hosts) - _HOSTS} more" if len(hosts) > _HOSTS else named
