"""A crew for the demo: a tool that delegates work, step by step, and shows the state of each step.

It is an extension like any other (docs/guide/extensions.md). No model is behind the steps: each is a command.
"""

import asyncio
import sys

from sightline.extension import Extension, Outcome, ToolContext

COMMANDS = {
    "Syntax": [sys.executable, "-m", "compileall", "-f", "."],
    "Tests": [sys.executable, "-m", "unittest", "-v"],
    "Sizes": ["sh", "-c", "wc -l *.py; sleep 0.5"],
}


def setup(extension: Extension) -> None:
    @extension.tool(access="read")
    async def crew(context: ToolContext, chain: list[dict[str, str]]) -> Outcome:
        """Have each agent of the chain do its task, one after the other."""
        items = [
            {"id": str(number), "agent": step["agent"], "task": step["task"], "status": "pending"}
            for number, step in enumerate(chain, 1)
        ]
        failed = False
        for item in items:
            item["status"] = "running"
            context.update(_details(items, item["id"]))
            failed = await _work(item, items, context) != 0
            item["status"] = "error" if failed else "ok"
            context.update(_details(items, item["id"]))
            if failed:
                break
        lines = [f"{item['agent']}: {item['status']} ({item.get('preview', '')})" for item in items]
        return Outcome(text="\n".join(lines), details=_details(items, ""), is_error=failed)


async def _work(item: dict[str, str], items: list[dict[str, str]], context: ToolContext) -> int:
    process = await asyncio.create_subprocess_exec(
        *COMMANDS[item["agent"]],
        cwd=context.cwd,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    assert process.stdout is not None
    async for line in process.stdout:
        if text := line.decode(errors="replace").strip():
            item["preview"] = text
            context.update(_details(items, item["id"]))
    return await process.wait()


def _details(items: list[dict[str, str]], active: str) -> dict[str, object]:
    shown = [dict(item) for item in items]
    return {"ui": {"kind": "agent_delegation", "mode": "chain", "items": shown, "activeId": active}}
