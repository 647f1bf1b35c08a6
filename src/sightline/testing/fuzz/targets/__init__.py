"""What is fuzzed, each with what must hold."""

from sightline.testing.fuzz._target import Target
from sightline.testing.fuzz.targets._archives import Archives
from sightline.testing.fuzz.targets._commands import Commands
from sightline.testing.fuzz.targets._databases import Databases
from sightline.testing.fuzz.targets._definitions import Definitions
from sightline.testing.fuzz.targets._escapes import Escapes
from sightline.testing.fuzz.targets._http import Http
from sightline.testing.fuzz.targets._paths import Paths
from sightline.testing.fuzz.targets._rules import Rules
from sightline.testing.fuzz.targets._socket import SocketMessages

TARGETS: list[Target] = [
    Rules(),
    Commands(),
    Paths(),
    Escapes(),
    Archives(),
    Databases(),
    SocketMessages(),
    Http(),
    Definitions(),
]
