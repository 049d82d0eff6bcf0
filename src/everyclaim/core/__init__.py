"""What everything else speaks: types, protocols, events, errors, component specs. Standard library only."""
