"""`tucano try`: a person asks the models of a finished run on a page, and sees what reward and truth say of them."""
