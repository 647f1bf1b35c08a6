"""Skills: what a `SKILL.md` says, which there are here, and what a model reads of them."""

from sightline._later import later

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sightline.tools.skills._discovery import SkillCatalogue as SkillCatalogue
    from sightline.tools.skills._discovery import find_skills as find_skills
    from sightline.tools.skills._session_skills import USED as USED
    from sightline.tools.skills._session_skills import SessionSkills as SessionSkills
    from sightline.tools.skills._session_skills import SkillUse as SkillUse
    from sightline.tools.skills._session_skills import readable_skill as readable_skill
    from sightline.tools.skills._skill import Skill as Skill
    from sightline.tools.skills._skill import standing_of as standing_of

if not TYPE_CHECKING:
    __getattr__, __dir__ = later(__name__, __file__)
