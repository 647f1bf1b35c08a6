"""A program with the agent in it: it may look a word up in a list of ours, and somebody answers what it asks.

    python examples/agent_program.py "What does ETA mean here?"

How it works: docs/guide/sdk.md
"""

import asyncio
import sys

import sightline
from sightline.events import Request, Text, ToolUse
from sightline.exceptions import SightlineError

WORDS = {"ETA": "when the ferry arrives", "ETD": "when the ferry leaves"}


async def glossary(word: str) -> str:
    """What a word means in this project."""
    return WORDS.get(word, f"no such word; there are {', '.join(WORDS)}")


async def main(prompt: str, model: str = "") -> int:
    async with sightline.start(".", model=model, tools=[glossary], attended=True) as session:
        await session.send(prompt)
        async for event in session.events():
            match event:
                case Text():
                    sys.stdout.write(event.text)
                case ToolUse():
                    sys.stdout.write(f"\n[{event.name} {event.arg}]\n")
                case Request():
                    sys.stdout.write(f"\n{event.text}? [y/N] ")
                    sys.stdout.flush()
                    said = await asyncio.to_thread(sys.stdin.readline)
                    session.answer(event.id, "once" if said.strip() == "y" else "no")
        sys.stdout.write("\n")
        return (await session.wait()).exit_code


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.stderr.write(
            'error: no prompt\nhint: python examples/agent_program.py "What does ETA mean here?" [MODEL]\n'
        )
        raise SystemExit(2)
    try:
        raise SystemExit(asyncio.run(main(*sys.argv[1:3])))
    except SightlineError as error:
        sys.stderr.write(f"error: {error.message}\nhint: {error.hint}\n")
        raise SystemExit(error.exit_code) from None
