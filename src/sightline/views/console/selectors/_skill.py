"""`/skill`: the skills of this session, where each is from and whether it is used. The chosen one is put into the
editor, for the user to write what it is for. With a name it is a prompt, and the host adds the skill to it."""

from collections.abc import Iterator

from sightline.text import clean_line
from sightline.tty.components import Item
from sightline.views.console._desk import Desk, session_begun
from sightline.views.console.selectors._panel import ChoicePanel
from sightline.views.console.status import Facts

_NEW = "a folder with a SKILL.md in .sightline/skills, .agents/skills or .claude/skills, here or in your home, is one"


async def open(desk: Desk, args: str) -> None:
    await session_begun(desk)
    facts = Facts(desk.state)
    if facts.provider:
        desk.report("skills are for Sightline's own agent", "error", "another agent has its own: name one in a prompt")
        return
    if not facts.skills:
        desk.report("there are no skills here", hint=_NEW)
        return
    name = await desk.ask(ChoicePanel(desk, "Skills", list(_items(facts)), confirm="write its prompt"))
    if name is not None:
        desk.set_draft(f"/skill {name} ")


def _items(facts: Facts) -> Iterator[Item]:
    """What is not used is shown with the reason, and cannot be chosen. A name may be there twice."""
    for number, skill in enumerate(facts.skills):
        name, place = clean_line(skill.name), clean_line(skill.place)
        about = " · ".join(clean_line(part) for part in (skill.standing, place, skill.about) if part)
        yield Item(name if skill.usable else f"\0{number}", name, about, disabled=not skill.usable)
