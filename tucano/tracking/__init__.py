"""Tracking: what a pipeline run measured, in MLflow. The only package that imports mlflow, and only when a store is
opened.

`Tracker.connect` may fail, with one sentence; once training runs, nothing here stops it.
"""

from tucano.tracking.evaluations import Row
from tucano.tracking.models import DataSplit
from tucano.tracking.registry import RegisteredModel
from tucano.tracking.tracker import PipelineRun, Tracker

__all__ = ["DataSplit", "PipelineRun", "RegisteredModel", "Row", "Tracker"]
