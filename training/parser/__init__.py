"""The dependency parser that ships: its data, network and training."""
