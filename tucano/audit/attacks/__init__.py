"""Programs that look for answers which earn much and are worth nothing."""
