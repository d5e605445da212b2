"""What no shop says to its customers, and no adviser to a shop."""
