"""A registered model with all that it was made from, in one file; and that file held against itself, anywhere."""
