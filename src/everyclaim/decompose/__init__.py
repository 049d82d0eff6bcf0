"""Response → claims. `embedded` works offline; every decomposer has the shape of `core.protocols.Decomposer`."""
