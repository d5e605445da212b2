"""One page over a whole storage: which configuration is better, how sure that is, and what it cost."""
