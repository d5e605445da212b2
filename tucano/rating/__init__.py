"""People's ratings of answers: drawn, given, kept and read back."""
