"""Workflows: steps that are prompts for agents or commands, run side by side wherever they do not need one another."""

from sightline.flows.file._check import check as check
from sightline.flows.file._check import load as load
from sightline.flows.file._findings import Finding as Finding
from sightline.flows.file._findings import FlowInvalid as FlowInvalid
from sightline.flows.file._inputs import parse_inputs as parse_inputs
from sightline.flows.file._model import AgentStep as AgentStep
from sightline.flows.file._model import CommandStep as CommandStep
from sightline.flows.file._model import Flow as Flow
from sightline.flows.file._model import FlowInput as FlowInput
from sightline.flows.running._outcome import FlowOutcome as FlowOutcome
from sightline.flows.running._outcome import StepResult as StepResult
from sightline.flows.running._run import FlowRun as FlowRun
from sightline.flows.running._run import run_flow as run_flow
