"""Processes: started, read as they write, and ended with everything they started."""

from sightline._later import later
from sightline.exec.process._process import GRACE as GRACE
from sightline.exec.process._process import Process as Process

TYPE_CHECKING = False
# A process can start before there is an event loop; what needs one, or is rarely used, is imported when asked for.
if TYPE_CHECKING:
    from sightline.exec._command import Command as Command
    from sightline.exec._forwarding import OutputForwarder as OutputForwarder
    from sightline.exec._jobs import CancelOutcome as CancelOutcome
    from sightline.exec._jobs import Jobs as Jobs
    from sightline.exec._jobs import JobSnapshot as JobSnapshot
    from sightline.exec._spec import CommandSpec as CommandSpec
    from sightline.exec._spec import PassOn as PassOn
    from sightline.exec.cells._cell import Cells as Cells
    from sightline.exec.process._descent import descends_from_command as descends_from_command
    from sightline.exec.process._orphans import as_guest as as_guest
    from sightline.exec.sandbox._environment import filtered_environment as filtered_environment
    from sightline.exec.sandbox._environment import is_withheld as is_withheld
    from sightline.exec.sandbox._environment import passed_variables as passed_variables
    from sightline.exec.sandbox._environment import secret_variables as secret_variables
    from sightline.exec.sandbox._environment import sockets_in as sockets_in
    from sightline.exec.sandbox._launching import bare_environment as bare_environment
    from sightline.exec.sandbox._launching import out_of_the_way as out_of_the_way
    from sightline.exec.sandbox._launching import trusted_environment as trusted_environment
    from sightline.exec.sandbox._programs import UntrustedProgram as UntrustedProgram
    from sightline.exec.sandbox._programs import find_program as find_program
    from sightline.exec.sandbox._programs import planted_programs as planted_programs
    from sightline.exec.sandbox._programs import program as program
    from sightline.exec.sandbox._programs import start_words as start_words
    from sightline.exec.sandbox._programs import work_in as work_in
    from sightline.exec.sandbox._protection import replacing as replacing
    from sightline.exec.sandbox._removal import remove_folder as remove_folder
    from sightline.exec.sandbox._sandbox import SandboxedCommand as SandboxedCommand
    from sightline.exec.sandbox._sandbox import SandboxSpec as SandboxSpec
    from sightline.exec.sandbox._sandbox import SandboxStatus as SandboxStatus
    from sightline.exec.sandbox._sandbox import sandbox_status as sandbox_status
    from sightline.exec.sandbox._sandbox import sandboxed as sandboxed
    from sightline.exec.sandbox._sandbox import unprotected as unprotected
    from sightline.exec.sandbox._setup import SETUP_ATTEMPTS as SETUP_ATTEMPTS

if not TYPE_CHECKING:  # so that a wrong name is found by the type checker
    __getattr__, __dir__ = later(__name__, __file__)
