"""The audit on all cores: in a process of its own, which forks."""
