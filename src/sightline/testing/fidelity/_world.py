"""Worlds and sequences, made from a seed."""

import random

import msgspec

from sightline.testing.emulators import Kind
from sightline.testing.fidelity._operations import ON_SCENE, ON_TERMINAL, Operation
from sightline.testing.fidelity._scene import Layout

_ONLY_TMUX = ("zoom", "split", "attach")
_RESIZING = ("resize", "resize_storm", *_ONLY_TMUX)


class World(msgspec.Struct, frozen=True):
    """A terminal, and how the display begins on it."""

    emulator: Kind
    columns: int
    rows: int
    layout: Layout
    synchronized: bool = True
    hardware_cursor: bool = True
    shell_rows: int = 0
    """Rows the shell wrote before: the window begins below them."""

    resizes: bool = True
    pictures: bool = False
    """Whether the terminal takes kitty's graphics."""

    @property
    def rewraps(self) -> bool:
        """Whether the terminal itself wraps its history anew."""
        return self.multiplexer and self.resizes

    @property
    def multiplexer(self) -> bool:
        return self.emulator == "tmux"


class Case(msgspec.Struct, frozen=True):
    """All that is needed to run a sequence again."""

    seed: int
    world: World
    operations: list[Operation]


def make_case(seed: int, emulator: Kind, length: int) -> Case:
    """The case of this seed."""
    rng = random.Random(f"{seed} {emulator}")
    world = _make_world(rng, emulator)
    return Case(seed, world, [_make_operation(rng, world) for _ in range(length)])


def _make_world(rng: random.Random, emulator: Kind) -> World:
    columns = rng.choice((20, 27, 40, 60, 80, 80, 100, 120, rng.randint(20, 120)))
    rows = rng.choice((3, 4, 6, 8, 10, 12, 16, 24, 24, 50, rng.randint(3, 50)))
    return World(
        emulator=emulator,
        columns=columns,
        rows=rows,
        layout=rng.choice(("transcript", "transcript", "transcript", "plain", "seam")),
        synchronized=rng.random() < 0.7,
        hardware_cursor=rng.random() < 0.7,
        shell_rows=rng.choice((0, 1, rows // 2, rows - 1, rows * 2)),
        resizes=emulator != "tmux" or rng.random() < 0.7,
        pictures=emulator != "tmux" and rng.random() < 0.4,
    )


def _make_operation(rng: random.Random, world: World) -> Operation:
    weights = {name: weight for name, (weight, _) in ON_SCENE.items()} | ON_TERMINAL
    for name in _ONLY_TMUX:
        weights[name] *= world.multiplexer
    for name in _RESIZING:
        weights[name] *= world.resizes
    name = rng.choices(list(weights), list(weights.values()))[0]
    return Operation(
        name,
        seed=rng.getrandbits(32),
        pick=rng.randrange(999) / 1000,
        size=rng.choice((1, 1, 1, 2, 3, 4, 6, 9)),
        frames=rng.choice((0, 1, 1, 1, 1, 1, 1, 2, 3)) if rng.random() < 0.97 else 26,
    )
