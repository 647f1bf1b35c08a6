"""Sessions on Unix sockets: server, client, wire format, who may connect, and which hosts run."""
