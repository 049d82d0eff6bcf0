"""What results add up to: summaries with intervals, the worst answers, the gate of a release."""
