"""`python -m sightline.testing.standin --script FILE`: serve a script until interrupted."""

import argparse
import asyncio
import sys

from sightline.testing.standin import ScriptError, StandIn, _script


async def _serve(server: StandIn) -> None:
    async with server:
        print(server.url, flush=True)
        await asyncio.Event().wait()


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m sightline.testing.standin",
        description="A scripted model on loopback, for any Anthropic, OpenAI or Gemini client. Prints its URL.",
        epilog=_script.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--script", required=True, help="JSON file: a list of turns, see below")
    parser.add_argument("--port", type=int, default=0, help="default: any free one")
    options = parser.parse_args()
    try:
        asyncio.run(_serve(StandIn(options.script, port=options.port)))
    except (ScriptError, OSError) as error:
        print(f"error: {options.script}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        pass
    return 0


if __name__ == "__main__":
    sys.exit(main())
