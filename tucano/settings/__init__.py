"""The settings of a pipeline run: frozen, strict models, so that a typo is an error and the Prefect form explains
itself.

One file per section, those of training in `training/`. Profiles (prefect.yaml) hold differences from these defaults.
Each stage receives a model of its own that holds what it reads and nothing else (`...Stage`; tucano/settings/stages.py
makes them), and its artifact's key is made from just that. Importing this package imports neither torch nor Prefect.
"""

from tucano.settings.audit import AuditSettings as AuditSettings
from tucano.settings.base import RewardSetName as RewardSetName
from tucano.settings.base import Section as Section
from tucano.settings.benchmark import BenchmarkSettings as BenchmarkSettings
from tucano.settings.comparison import ComparisonSettings as ComparisonSettings
from tucano.settings.data import DataSettings as DataSettings
from tucano.settings.endpoint import EndpointSettings as EndpointSettings
from tucano.settings.execution import CostSettings as CostSettings
from tucano.settings.execution import Price as Price
from tucano.settings.model import ModelSettings as ModelSettings
from tucano.settings.pipeline import PipelineSettings as PipelineSettings
from tucano.settings.training.dpo import DpoSettings as DpoSettings
from tucano.settings.training.grpo import Condition as Condition
from tucano.settings.training.grpo import GrpoSettings as GrpoSettings
from tucano.settings.training.health import AlarmName as AlarmName
from tucano.settings.training.health import HealthSettings as HealthSettings
from tucano.settings.training.sft import SftSettings as SftSettings
