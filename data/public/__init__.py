"""Public benchmarks in Portuguese, read from folders that the user names."""
