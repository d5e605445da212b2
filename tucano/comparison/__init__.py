"""Is the tuned model better, and how sure are we? Answers in, verdict out."""
