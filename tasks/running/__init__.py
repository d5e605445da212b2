"""How a stage runs: the store, MLflow, training children, and what a person sees in Prefect."""
