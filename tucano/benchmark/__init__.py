"""Every arm judged by ground truth that no reward knows."""
