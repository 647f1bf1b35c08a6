"""Workflows: steps that are prompts for agents or commands, run side by side wherever they do not need one another."""

from sightline.flows.file._check import check, load
from sightline.flows.file._findings import Finding, FlowInvalid
from sightline.flows.file._inputs import parse_inputs
from sightline.flows.file._model import AgentStep, CommandStep, Flow, FlowInput
from sightline.flows.running._outcome import FlowOutcome, StepResult
from sightline.flows.running._run import FlowRun, run_flow

__all__ = [
    "AgentStep",
    "CommandStep",
    "Finding",
    "Flow",
    "FlowInput",
    "FlowInvalid",
    "FlowOutcome",
    "FlowRun",
    "StepResult",
    "check",
    "load",
    "parse_inputs",
    "run_flow",
]
