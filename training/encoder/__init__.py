"""How the embedded verifier's encoder was made: prepare, train, stack, export. README.md tells the order."""
