"""`tucano rate`: where a person says what an answer is worth, on a page or in the terminal."""
