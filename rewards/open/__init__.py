"""Push and insights by formulas that know no dialect."""
