"""Plain ways out of the workspace, which every other attack builds on."""

from sightline.testing.attack import Lab, attack

_WRITES = [
    "echo x > {0}/new",
    "mkdir {0}/folder",
    "ln -s x {0}/link",
    "mkfifo {0}/pipe",
    "cp /etc/hostname {0}/copy",
    "dd if=/dev/zero of={0}/zeros count=1",
    "ln -s {0} way && echo x > way/through",
    "setsid sh -c 'echo x > {0}/new'",
    "(sleep 0.2; echo x > {0}/late) &",
    'python3 -c \'open("{0}/python", "w")\'',
    "tar cf - /etc/hostname 2>/dev/null | tar xf - -C {0}",
    "echo x > mine; mv mine {0}/moved",
]


@attack(point=4, forms=_WRITES)
def a_command_writes_outside(lab: Lab, form: str) -> str:
    calls = lab.commands(form.format(lab.outside), "sleep 0.4")
    if len(calls) != 2:
        return f"expected two calls, there were {len(calls)}"
    return lab.written()


@attack(point=6, forms=["", "async"])
def a_command_runs_outside_the_sandbox_unasked(lab: Lab, form: str) -> str:
    """Asked for by the call itself; there is no person, so it must be refused."""
    args = {"sandbox": False, "async": form == "async"}
    calls = lab.commands(f"touch {lab.outside}/ran", args=args)
    return lab.written() or ("" if calls[0].refused else f"not refused: {calls[0].text}")
