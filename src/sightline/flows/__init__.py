"""Workflows: steps that are prompts for agents or commands, run side by side wherever they do not need one another."""

from sightline.flows.file._check import check, load
from sightline.flows.file._findings import Finding, FlowInvalid
from sightline.flows.file._inputs import parse_inputs, require_inputs
from sightline.flows.file._model import NATIVE, AgentStep, CommandStep, Flow, FlowInput
from sightline.flows.running._attempts import StepTask
from sightline.flows.running._board import task_of
from sightline.flows.running._outcome import OUTPUT_CAP, AttemptEnd, FlowOutcome, StepResult, brief
from sightline.flows.running._run import STEPS_AT_ONCE, FlowRun

__all__ = [
    "NATIVE",
    "OUTPUT_CAP",
    "STEPS_AT_ONCE",
    "AgentStep",
    "AttemptEnd",
    "CommandStep",
    "Finding",
    "Flow",
    "FlowInput",
    "FlowInvalid",
    "FlowOutcome",
    "FlowRun",
    "StepResult",
    "StepTask",
    "brief",
    "check",
    "load",
    "parse_inputs",
    "require_inputs",
    "task_of",
]
