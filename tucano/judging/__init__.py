"""How the judge of `tucano.truth` is learned from ratings, and how far it may be trusted."""
