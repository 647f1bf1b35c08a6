"""The skills of a session, published: which there are, which the model is offered, and which are not used and why."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from sightline.events import Notice, SessionSkill, SkillsState
from sightline.text import cut_graphemes
from sightline.tools.skills import SkillCatalogue, standing_of

if TYPE_CHECKING:
    from sightline.agent._agent import Agent

_NOTICED = "skills_noticed"  # the notices a session has had, with its conversation
_SHOWN = 200  # skills, and characters about each
_NAMED = 20


def publish_skills(agent: "Agent") -> None:
    """For the agent of a session, whose prompts are the user's: from now on they may name a skill. A notice is
    published once in a session, however often it is resumed."""
    agent.uses_skills = True
    if agent.workplace.skills is None:
        return
    found = agent.workplace.skills.find()
    had = agent.workplace.stored.get(_NOTICED)
    noticed = [text for text in had if isinstance(text, str)] if isinstance(had, list) else []
    if found.skills or noticed:
        rows = [
            SessionSkill(
                skill.name,
                cut_graphemes(skill.description, _SHOWN),
                skill.place,
                cut_graphemes(standing_of(skill), _SHOWN),
                skill.is_usable,
            )
            for skill in found.skills[:_SHOWN]
        ]
        if more := len(found.skills) - len(rows):
            rows.append(SessionSkill(f"and {more} more", standing="`sightline skills` lists all"))
        agent.actor.publish(SkillsState(rows).as_state())
    notices = [*_offered(found), *(Notice(text, "warning") for text in found.notices)]
    new = [notice for notice in notices if notice.text not in noticed]
    for notice in new:
        agent.actor.observed_by("skills").publish(notice)
    if new:
        agent.store_value(_NOTICED, [*noticed, *(notice.text for notice in new)])


def _offered(found: SkillCatalogue) -> list[Notice]:
    offered = _names(skill.name for skill in found.offered)
    for_user = _names(skill.name for skill in found.skills if skill.standing == "user")
    texts = [f"skills offered to the model: {offered}"] if offered else []
    texts += [f"skills for you alone: {for_user}"] if for_user else []
    return [Notice("; ".join(texts), "info", "/skill lists them")] if texts else []


def _names(names: Iterable[str]) -> str:
    known = list(names)
    more = len(known) - _NAMED
    return ", ".join(known[:_NAMED]) + (f" and {more} more" if more > 0 else "")
