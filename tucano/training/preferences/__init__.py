"""Learning from pairs of a better and a worse answer: where the pairs come from, and the training on them."""
