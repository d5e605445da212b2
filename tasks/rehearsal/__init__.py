"""Stages tried one by one, for `flows/rehearse.py`."""
