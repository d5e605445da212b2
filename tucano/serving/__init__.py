"""`tucano serve`: requests over HTTP, answered by the models of the registry and whoever else stands in a route."""
