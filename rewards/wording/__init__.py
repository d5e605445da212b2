"""What answers say in words, by kind: complaints and troubles, what is told wrongly, taken back or unwanted."""
