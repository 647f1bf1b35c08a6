"""What another program may do as an agent. Of our rules it knows nothing: it is held by its approval level alone.

Rules:

- The level is at most what the tools left to the agent would let one of ours do. Without a tool that writes or runs
  commands it is `plan`. With one that writes alone it is `edit`, if that program runs no command at that level.
- A deny rule that the level does not hold it to keeps it from being started: what is denied in a session must not be
  had by asking another program. `plan` holds it to what may not be written, a level without commands to those that may
  not be run, and none to what may not be read or reached.
- A program without tools of its own does nothing that a rule is about.
"""

from collections.abc import Collection, Iterable

from sightline.agent import LEVELS
from sightline.exceptions import UserMistake
from sightline.providers import Provider
from sightline.settings import Approval, parse_rule, shown_rule
from sightline.text import clean_line, cut_graphemes

_RUNNING, _WRITING = {"bash", "eval"}, {"edit", "write"}
_SHOWN, _LONGEST = 5, 100  # rules in a message, and characters of each


def level_for(provider: Provider, level: Approval, tools: Collection[str], deny: Iterable[str]) -> Approval:
    """At most `level`. UserMistake where the program cannot be held to one of the rules `deny`."""
    if provider.command is None:
        return level
    level = min(level, _level_of(provider, tools), key=LEVELS.index)
    if loose := [rule for rule in dict.fromkeys(deny) if not _is_held(provider, level, rule)]:
        rules = [cut_graphemes(clean_line(shown_rule(rule)), _LONGEST) for rule in loose[:_SHOWN]]
        more = f" and {len(loose) - _SHOWN} more" if len(loose) > _SHOWN else ""
        what = f"{len(loose)} deny {'rule' if len(loose) == 1 else 'rules'} of this session"
        raise UserMistake(
            f"{provider.title} cannot be held to {what}: {', '.join(rules)}{more}",
            f"the user can run it without them: sightline --provider {provider.name}",
        )
    return level


def _level_of(provider: Provider, tools: Collection[str]) -> Approval:
    """The most that an agent with these tools could do."""
    if _RUNNING.intersection(tools):
        return "full"
    return "edit" if _WRITING.intersection(tools) and _runs_nothing(provider, "edit") else "plan"


def _is_held(provider: Provider, level: Approval, rule: str) -> bool:
    match parse_rule(rule, denies=True).access:
        case "write":
            return level == "plan"
        case "exec":
            return _runs_nothing(provider, level)
        case _:
            return False


def _runs_nothing(provider: Provider, level: Approval) -> bool:
    return level in ("plan", "edit") and provider.command is not None and provider.command.forbids_commands
