"""What the agent may do: approvals, rules, the network, and changing them in a running session."""
