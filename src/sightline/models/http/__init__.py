"""Requests to model servers: transport, server-sent events, retries, and errors."""
