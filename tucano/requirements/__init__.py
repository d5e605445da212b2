"""What a run needs of its machine and of its settings, known before any work. Nothing here imports torch."""

from tucano.requirements.machine import cores as cores
from tucano.requirements.machine import require_device as require_device
from tucano.requirements.machine import require_space as require_space
from tucano.requirements.machine import seeds_at_a_time as seeds_at_a_time
from tucano.requirements.second_zero import require_startable as require_startable
from tucano.requirements.second_zero import warnings_of as warnings_of
