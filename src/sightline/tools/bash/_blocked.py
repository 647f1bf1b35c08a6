"""Whether it was the sandbox that made a command fail, as far as its words tell, and what a model can do about that."""

import re

from sightline.exec import SandboxSpec, sandbox_status

_WORDS = 8 * 1024  # characters at the end of the output that are looked at
_HOSTS = 5  # refused ones that are named

_writing = re.compile(r"read-only file ?system|\bEROFS\b", re.IGNORECASE)
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
    said = output[-_WORDS:]
    if refused:
        listed = "; ".join(f"{name} ({reason})" for name, reason in list(refused.items())[:_HOSTS])
        more = f"; {len(refused) - _HOSTS} more" if len(refused) > _HOSTS else ""
        return (
            f"[hint: it ran in the sandbox, where connections were refused: {listed}{more}. If that is why it failed, "
            "go on without it or say in your answer what you could not do]"
        )
    if _writing.search(said) or (sandbox_status().kind == "landlock" and _no_right.search(said)):
        limit = "only below the working folder can be written, without git's hooks and config"
    elif sandbox.network or not _network.search(said):
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
        "sandbox: false; the person is asked first]"
    )
