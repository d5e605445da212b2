"""`tucano monitor`: what the champion answers, held against its own test answers, look after look."""
