"""Workflows: steps that are prompts for agents or commands, run side by side wherever they do not need one another."""

from sightline.flows._check import check, load
from sightline.flows._findings import Finding, FlowInvalid
from sightline.flows._inputs import parse_inputs
from sightline.flows._model import AgentStep, CommandStep, Flow, Input
from sightline.flows._outcome import FlowOutcome, StepResult
from sightline.flows._run import FlowRun, run_flow

__all__ = [
    "AgentStep",
    "CommandStep",
    "Finding",
    "Flow",
    "FlowInvalid",
    "FlowOutcome",
    "FlowRun",
    "Input",
    "StepResult",
    "check",
    "load",
    "parse_inputs",
    "run_flow",
]
