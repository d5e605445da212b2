"""Our tasks for the programs of others: Inspect (`inspect_task`) and verifiers (`taskset`)."""
