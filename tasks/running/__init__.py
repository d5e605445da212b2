"""How a stage runs: where, with which handles, MLflow, training children, and what a person sees in Prefect."""
