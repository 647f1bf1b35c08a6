"""An executable corpus of attacks on the installed program: `python -m sightline.testing.attack` or `make attack`.

An attack is a function in `cases/` that tries to get out, to run code unasked or to learn a secret, and returns what it
got; an empty string means that the program held. One function is tried in many forms:

    @attack(point=4, forms=["echo x > {0}/new", "mkdir {0}/folder"])
    def a_command_writes_outside(lab: Lab, form: str) -> str:
        lab.commands(form.format(lab.outside))
        return lab.written()

Each form is tried as root and as an ordinary user, with bubblewrap and with Landlock (as far as the machine can), each
time in a new `Lab`: a workspace, a home and a folder outside, and the program with a scripted model. `point` is the
number of the threat in docs/reference/threat-model.md. Where an attack makes sense in some configurations only, it
says so with `users` or `sandboxes`. An attack proves nothing when it cannot work anywhere: `--sightline PATH` runs the
corpus against another installation, such as one before a fix.
"""

from sightline.testing.attack._corpus import Attack, attack, corpus
from sightline.testing.attack._lab import Call, Lab, Ran

__all__ = ["Attack", "Call", "Lab", "Ran", "attack", "corpus"]
