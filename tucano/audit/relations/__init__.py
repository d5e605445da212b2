"""What must hold between the scores of texts of which one is known to be worse, as good or longer than the other; for
each kind of prompt by itself. None of it knows how a reward is computed.
"""
