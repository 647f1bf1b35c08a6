"""What an agent's sandboxed commands may connect to: decided for its gateway by the rules and the user of a session.

Rules:

- A need is `network(HOST:PORT)`. Deny rules win, then the level (`plan` never, `full` always), then allow rules; what
  is left is asked of the user, who sees which command requests it.
- With no user there it is refused at once and a notice names the rule that would allow it. The command continues and
  may cope with that, so the run does not fail by it as it does by a call that is refused.
- A rule about a name never opens a private network: its owner decides where the name leads. An address that is not of
  the open internet has to be named by a rule itself (`localhost` names loopback), or `web.private_hosts` be on.
"""

from collections.abc import Callable

from sightline.actors import Actor
from sightline.agent.permissions._approvals import Approvals, Refusal, way_to_allow
from sightline.events import CallEnding, Notice
from sightline.exec.gateway import Entrance, Ruling
from sightline.settings import Decision, allows_alone, parse_rule
from sightline.tools import Need


class NetworkJudge:
    """The judge of one agent's gateway."""

    def __init__(self, approvals: Approvals, actor: Actor, private: Callable[[], bool]) -> None:
        """`private`: whether addresses of private networks are like any other."""
        self._approvals = approvals
        self._actor = actor
        self._private = private
        self._reported: set[str] = set()  # what notices were published for

    def rule(self, host: str, port: int) -> Ruling | None:
        policy = self._approvals.policy
        if policy.approval == "plan":
            return Ruling(False, "approval plan", "the approval level is plan")
        decision = policy.decide(_need(host, port))
        if decision.verdict == "deny":
            return Ruling(False, decision.rule, f"a rule denies it: {decision.rule}")
        if _is_address(host):
            ruling = self.rule_address(host, port, host)
            if not ruling.allowed:
                return ruling
        return Ruling(True, decision.rule) if decision.verdict == "allow" else None

    def rule_address(self, host: str, port: int, address: str) -> Ruling:
        from sightline.exec.gateway import spellings

        policy = self._approvals.policy
        decision = policy.decide(_need(address, port))
        for denied in (policy.decide(_need(each, port)) for each in spellings(address)):
            if denied.verdict == "deny":
                return Ruling(False, denied.rule, f"a rule denies its address: {denied.rule}")
        if self._private() or policy.approval == "full" or _is_public(address):
            return Ruling(True, decision.rule)
        names = {_name(address, port)} | ({_name(host, port)} if host == "localhost" else set())
        if any(self._names(rule, name) for rule in policy.allow for name in names):
            return Ruling(True, decision.rule)
        where = "it is" if host == address else f"{address} is"
        reason = (
            f"{where} an address of this machine or of a private network; the rule network({address}) would allow it"
        )
        return Ruling(False, "", reason)

    def decide(self, host: str, port: int) -> Decision:
        """The decision about a page that is read from there."""
        return self._approvals.policy.decide(_need(host, port))

    async def ask(self, entrance: Entrance, host: str, port: int) -> Ruling:
        if not self._actor.log.has_answers:
            return self._refuse(entrance, self._approvals.policy.decide(_need(host, port)), _name(host, port))
        need = Need("network", _name(host, port), why="a command in the sandbox wants to connect")
        try:
            await self._approvals.ask("bash", entrance.id, [need], entrance.args)
        except Refusal as refusal:
            return Ruling(False, "", _why_refused(refusal.ending))
        ruling = self.rule(host, port)
        return ruling if ruling is not None else Ruling(True, "allowed once")

    def _refuse(self, entrance: Entrance, decision: Decision, name: str) -> Ruling:
        if name not in self._reported:
            self._reported.add(name)
            text = f"refused, no user to ask: a command wants to connect to {name}"
            self._actor.publish(Notice(text, "warning", way_to_allow(decision.suggestion)))
        return Ruling(False, decision.rule, "no rule allows it, and there is no user to ask")

    def _names(self, rule: str, name: str) -> bool:
        """Whether this rule is about this host and not about many."""
        parsed = parse_rule(rule)
        if parsed.access != "network" or not parsed.pattern or "*" in parsed.pattern:
            return False
        return allows_alone(rule, "network", name, self._approvals.policy.workspace)


def _why_refused(ending: CallEnding) -> str:
    """Without what was refused: the caller has named it."""
    if ending.by != "user":
        return ending.why_refused
    return f"the user refused it{ending.reason and f': {ending.reason}'}"


def _need(host: str, port: int) -> Need:
    return Need("network", _name(host, port))


def _name(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _is_public(address: str) -> bool:
    import ipaddress

    from sightline.exec.gateway import is_public

    return is_public(ipaddress.ip_address(address))


def _is_address(host: str) -> bool:
    import ipaddress

    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
