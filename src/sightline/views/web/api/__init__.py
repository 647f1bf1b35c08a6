"""The HTTP API: routes, bodies, and the OpenAPI document."""
