"""A running session: commands in, events out; attach, detach, reconnect. It outlives its views."""

from sightline._later import later

TYPE_CHECKING = False
# A console starts its host before anything is loaded, and a host without an agent in it does not load one.
if TYPE_CHECKING:
    from sightline.actors import all_details as all_details
    from sightline.host.flow._flow_session import FlowStart as FlowStart
    from sightline.host.flow._flow_session import flow_start as flow_start
    from sightline.host.flow._hosted_flow import HostedFlow as HostedFlow
    from sightline.host.native._run import NativeRun as NativeRun
    from sightline.host.native._run import native_run as native_run
    from sightline.host.native._working import NativeSession as NativeSession
    from sightline.host.native._working import working as working
    from sightline.host.process._console_options import launch_agent as launch_agent
    from sightline.host.process._console_options import started as started
    from sightline.host.process._flow_host import launch_flow as launch_flow
    from sightline.host.process._process import launch as launch
    from sightline.host.provider._levels import level_left_in as level_left_in
    from sightline.host.provider._memory import conversation_in as conversation_in
    from sightline.host.provider._memory import last_conversation as last_conversation
    from sightline.host.provider._memory import native_id as native_id
    from sightline.host.provider._run import ProviderRun as ProviderRun
    from sightline.host.recovery._stored_session import StoredSession as StoredSession
    from sightline.host.recovery._stored_session import recover as recover
    from sightline.host.recovery._stored_session import stored_jobs as stored_jobs
    from sightline.host.recovery._tree_edits import MovedTree as MovedTree
    from sightline.host.recovery._tree_edits import label_in_tree as label_in_tree
    from sightline.host.recovery._tree_edits import move_in_tree as move_in_tree
    from sightline.host.session._answer_schema import AnswerSchema as AnswerSchema
    from sightline.host.session._answer_schema import read_schema as read_schema
    from sightline.host.session._commands import Abort as Abort
    from sightline.host.session._commands import AnswerRequest as AnswerRequest
    from sightline.host.session._commands import AskAside as AskAside
    from sightline.host.session._commands import Attach as Attach
    from sightline.host.session._commands import CancelCall as CancelCall
    from sightline.host.session._commands import CancelJob as CancelJob
    from sightline.host.session._commands import Cell as Cell
    from sightline.host.session._commands import Command as Command
    from sightline.host.session._commands import CommandReply as CommandReply
    from sightline.host.session._commands import Compact as Compact
    from sightline.host.session._commands import DismissFinding as DismissFinding
    from sightline.host.session._commands import EditTodo as EditTodo
    from sightline.host.session._commands import Label as Label
    from sightline.host.session._commands import MoveTo as MoveTo
    from sightline.host.session._commands import Outline as Outline
    from sightline.host.session._commands import Prompt as Prompt
    from sightline.host.session._commands import Reload as Reload
    from sightline.host.session._commands import Review as Review
    from sightline.host.session._commands import ReviewChoices as ReviewChoices
    from sightline.host.session._commands import SendMail as SendMail
    from sightline.host.session._commands import SetApproval as SetApproval
    from sightline.host.session._commands import SetModel as SetModel
    from sightline.host.session._commands import Shell as Shell
    from sightline.host.session._commands import Start as Start
    from sightline.host.session._commands import Stop as Stop
    from sightline.host.session._commands import Unqueue as Unqueue
    from sightline.host.session._life import hosting as hosting
    from sightline.host.session._run_limits import RunLimits as RunLimits
    from sightline.host.session._session import HostSession as HostSession
    from sightline.host.session._subscription import Frame as Frame
    from sightline.host.session._subscription import Subscription as Subscription
    from sightline.host.session._worktree import first_worktree as first_worktree
    from sightline.host.session._worktree import folder_to_resume_in as folder_to_resume_in
    from sightline.host.session._worktree import placed as placed
    from sightline.host.socket._client import Client as Client
    from sightline.host.socket._client import HostGone as HostGone
    from sightline.host.socket._client import HostRefused as HostRefused
    from sightline.host.socket._client import connect as connect
    from sightline.host.socket._hosts import attach as attach
    from sightline.host.socket._hosts import find as find
    from sightline.host.socket._hosts import follow as follow
    from sightline.host.socket._hosts import hosted as hosted
    from sightline.host.socket._hosts import is_lost as is_lost
    from sightline.host.socket._hosts import running as running
    from sightline.host.socket._runtime import listen as listen
    from sightline.host.socket._wire import Hello as Hello

if not TYPE_CHECKING:  # so that a wrong name is found by the type checker
    __getattr__, __dir__ = later(__name__, __file__)
