"""What `vf-eval tucano-commerce` imports by its name."""

from tucano.environments.taskset import CommerceEnv, CommerceTaskset, OneRequest

__all__ = ["CommerceEnv", "CommerceTaskset", "OneRequest"]
