"""The retrain flow: what an alarm asks for, after a person's approval where the settings say so. Started by an
automation.
"""

from prefect import flow
from prefect.client.schemas.objects import State
from prefect.states import Completed

from tasks.monitor import approved, start_training, take_up
from tasks.running.labels import plain_name


@flow(name="retrain", flow_run_name=plain_name)
def retrain(storage: str, alarm: str) -> State[None]:
    """One run of the deployment that the alarm (an id) in a storage names, once for ever."""
    found = take_up(storage, alarm)
    if isinstance(found, str):
        return Completed(message=found)
    if not approved(found):
        return Completed(message=f"declined: {found.champion} stays, and its alarm ({found.what}) stands")
    return Completed(message=start_training(found))
