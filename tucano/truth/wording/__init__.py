"""What answers say in words of their own: complaints, queries that are nearly right, steps that say nothing."""
