"""Whether it was the sandbox that made a command fail, as far as its words tell, and what a model can do about that."""

import re

from sightline.exec import SandboxSpec, sandbox_status

_WORDS = 8 * 1024  # characters at the end of the output that are looked at

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
    said = output[-_WORDS:]
    if _writing.search(said) or (sandbox_status().kind == "landlock" and _no_right.search(said)):
        limit = "only below the working folder can be written, without git's hooks and config"
    elif not sandbox.network and _network.search(said):
        limit = "there is no network, and no server of another command can be reached"
    else:
        return ""
    return (
        f"[hint: it ran in the sandbox, where {limit}. If that is why it failed and the task needs it, call bash with "
        "sandbox: false; the person is asked first]"
    )
