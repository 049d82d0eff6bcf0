"""One request to one chat model: wire formats, transports, and the wrappers around an endpoint."""
