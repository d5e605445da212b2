"""What a run will take before it is run: memory, kernels and traffic of its real code on tensors without contents."""
