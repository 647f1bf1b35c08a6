"""Processes: started, read as they write, and ended with everything they started."""

from typing import TYPE_CHECKING

from sightline._later import later
from sightline.exec._process import GRACE, Process

if TYPE_CHECKING:
    from sightline.exec._cell import Cells
    from sightline.exec._command import Command
    from sightline.exec._descent import descends_from_command
    from sightline.exec._environment import (
        filtered_environment,
        is_withheld,
        passed_variables,
        secret_variables,
        sockets_in,
    )
    from sightline.exec._jobs import CancelOutcome, Jobs, JobSnapshot
    from sightline.exec._launching import bare_environment, out_of_the_way, trusted_environment
    from sightline.exec._orphans import as_guest
    from sightline.exec._passing import Passing
    from sightline.exec._programs import (
        UntrustedProgram,
        find_program,
        planted_programs,
        program,
        start_words,
        work_in,
    )
    from sightline.exec._protection import replacing
    from sightline.exec._sandbox import (
        Sandboxed,
        SandboxSpec,
        SandboxStatus,
        sandbox_status,
        sandboxed,
        unprotected,
    )
    from sightline.exec._spec import CommandSpec, PassOn, Sink

__all__ = [
    "GRACE",
    "CancelOutcome",
    "Cells",
    "Command",
    "CommandSpec",
    "JobSnapshot",
    "Jobs",
    "PassOn",
    "Passing",
    "Process",
    "SandboxSpec",
    "SandboxStatus",
    "Sandboxed",
    "Sink",
    "UntrustedProgram",
    "as_guest",
    "bare_environment",
    "descends_from_command",
    "filtered_environment",
    "find_program",
    "is_withheld",
    "out_of_the_way",
    "passed_variables",
    "planted_programs",
    "program",
    "replacing",
    "sandbox_status",
    "sandboxed",
    "secret_variables",
    "sockets_in",
    "start_words",
    "trusted_environment",
    "unprotected",
    "work_in",
]

# A process can start before there is an event loop; what needs one, or is rarely used, is imported when asked for.
_LATER = {
    "CancelOutcome": "_jobs",
    "Cells": "_cell",
    "Command": "_command",
    "CommandSpec": "_spec",
    "JobSnapshot": "_jobs",
    "Jobs": "_jobs",
    "PassOn": "_spec",
    "Passing": "_passing",
    "SandboxSpec": "_sandbox",
    "SandboxStatus": "_sandbox",
    "Sandboxed": "_sandbox",
    "Sink": "_spec",
    "UntrustedProgram": "_programs",
    "bare_environment": "_launching",
    "out_of_the_way": "_launching",
    "as_guest": "_orphans",
    "trusted_environment": "_launching",
    "descends_from_command": "_descent",
    "filtered_environment": "_environment",
    "is_withheld": "_environment",
    "passed_variables": "_environment",
    "secret_variables": "_environment",
    "sockets_in": "_environment",
    "find_program": "_programs",
    "planted_programs": "_programs",
    "program": "_programs",
    "replacing": "_protection",
    "sandbox_status": "_sandbox",
    "sandboxed": "_sandbox",
    "start_words": "_programs",
    "unprotected": "_sandbox",
    "work_in": "_programs",
}

__getattr__ = later(__name__, _LATER)
