"""An extension with one of everything: a tool that streams and shows its steps, a guard, and two commands.

Copy it into the folder `extensions` beside your settings (`sightline config path` says where those are), or into
`.sightline/extensions` of a project you trust. What the steps are can be set:

    [extensions.options.deploy]
    steps = { tests = "make test", clean = "git diff --exit-code --stat" }

How extensions work: docs/guide/extensions.md
"""

import asyncio
import re
from typing import Any

from sightline.extension import Block, Call, Extension, Outcome, ToolContext, ToolError

STEPS = {"syntax": "python3 -m compileall -q .", "tests": "python3 -m unittest", "clean": "git diff --exit-code --stat"}
RM_RF = re.compile(r"\brm\s+(?=.*-\w*[rR])(?=.*-\w*f)")


def setup(extension: Extension) -> None:
    steps: dict[str, str] = (extension.options or {}).get("steps", STEPS)

    @extension.tool(access="exec")
    async def deploy_check(context: ToolContext, only: list[str] | None = None) -> Outcome:
        """Find out whether this project can be deployed: runs its checks one after the other and stops at the first
        that fails. `only` names the checks to run; without it all are."""
        unknown = [name for name in only or () if name not in steps]
        if unknown:
            raise ToolError(f"no check {unknown[0]}; there are {', '.join(steps)}")
        items = [
            {"id": name, "agent": "check", "task": command, "status": "pending"}
            for name, command in steps.items()
            if not only or name in only
        ]
        return await run_checks(items, context)

    @extension.on("before_call")
    def no_rm_rf(call: Call) -> Block | None:
        """Saves you from an accident. What keeps a command in its place is the sandbox."""
        if call.tool == "bash" and RM_RF.search(str(call.args.get("command", ""))):
            return Block("rm -rf is not done here; remove files by their names")
        return None

    @extension.command("standup")
    async def standup(args: str) -> str:
        """`/standup`, `/standup last monday`: what was done since then."""
        since = args or "yesterday"
        code, said = await run(["git", "log", "--format=- %s", f"--since={since}"], str(extension.cwd))
        if code != 0:
            raise ToolError(f"git cannot say: {said.strip()}")
        return f"Done since {since}:\n{said.strip() or '(nothing)'}"

    @extension.command("deploy")
    async def deploy(args: str) -> None:
        """`/deploy`: hands the model a prompt that is always the same."""
        await extension.prompt("Run deploy_check. Mend what fails and run it again, until everything passes.")


async def run_checks(items: list[dict[str, Any]], context: ToolContext) -> Outcome:
    """One after the other: what they print is shown line by line, how they stand as a list of steps."""
    failed = ""
    for item in items:
        item["status"] = "running"
        context.update(as_details(items, active=item["id"]))
        context.output(f"$ {item['task']}\n")
        code, said = await run(["sh", "-c", item["task"]], str(context.cwd), context)
        item["status"] = "ok" if code == 0 else "error"
        item["preview"] = said.strip().rpartition("\n")[2]
        if code != 0:
            failed = f"{item['id']} failed with exit code {code}:\n{said}"
            break
    done = ", ".join(f"{item['id']}: {item['status']}" for item in items)
    return Outcome(text=f"{done}\n{failed}".strip(), details=as_details(items), is_error=bool(failed))


def as_details(items: list[dict[str, Any]], active: str | None = None) -> dict[str, Any]:
    """The delegation contract: every view draws it as a list of steps, whatever the tool is called."""
    ui: dict[str, Any] = {"kind": "agent_delegation", "mode": "chain", "items": [dict(item) for item in items]}
    return {"ui": {**ui, "activeId": active} if active else ui}


async def run(argv: list[str], cwd: str, context: ToolContext | None = None) -> tuple[int, str]:
    """The exit code and everything printed; with a context, shown while it is."""
    pipe, nothing, same = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL, asyncio.subprocess.STDOUT
    process = await asyncio.create_subprocess_exec(*argv, cwd=cwd, stdin=nothing, stdout=pipe, stderr=same)
    assert process.stdout is not None
    lines: list[str] = []
    try:
        async for line in process.stdout:
            lines.append(line.decode("utf-8", "replace"))
            if context is not None:
                context.output(lines[-1])
        return await process.wait(), "".join(lines)
    finally:
        if process.returncode is None:  # the call was cancelled
            process.kill()
            await process.wait()
