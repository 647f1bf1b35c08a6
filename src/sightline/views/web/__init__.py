"""The web view: sessions and jobs, live, in a browser, and the HTTP API behind it. Loaded only when it is served."""


def serve(port: int, files: list[str]) -> int:
    """Serve the page on this machine until interrupted; port 0 takes any that is free. Returns the exit code."""
    from sightline.views.web._serve import run

    return run(port, files)


__all__ = ["serve"]
