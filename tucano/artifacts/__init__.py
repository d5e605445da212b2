"""What stages made: the store, what makes one artifact the same as another, and the chain from a model to its data."""
