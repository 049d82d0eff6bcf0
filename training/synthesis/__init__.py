"""Claims made from passages, with their labels, evidence and errors: see the README beside this file."""
