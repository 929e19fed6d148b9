"""Networks as evaluators of a search: what they advise, and what states are worth to them, in compiled code."""
