"""Portuguese benchmarks that others wrote: Spider in Portuguese, ENEM and FaQuAD."""
