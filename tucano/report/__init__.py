"""One page for readers, in two languages."""
