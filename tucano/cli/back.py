"""`tucano promote --back`: the champion before this one is champion again, and who wanted that and why is recorded."""

from tucano.errors import UserError
from tucano.overview.backs import record_back
from tucano.overview.page import announced
from tucano.security.printable import short
from tucano.settings import PipelineSettings
from tucano.storage.root import writable
from tucano.tracking import Tracker
from tucano.tracking.origin import user_name
from tucano.tracking.registry import PREVIOUS
from tucano.tracking.store import named, require_registry

LONGEST = 500


def promote(settings: PipelineSettings, why: str) -> int:
    """Exchange `champion` and `previous`; UserError where there is none to go back to."""
    model = settings.promotion.model
    if len(why.strip()) < 5:
        raise UserError("--why is the reason that the registry keeps; write a few words")
    require_registry(settings.storage, settings.tracking_uri)
    root = writable(settings.storage)
    tracker = Tracker.connect(named(settings.tracking_uri), root)
    champion, previous = tracker.champion(model), tracker.find_version(f"{model}@{PREVIOUS}")
    if champion is None or previous is None:
        raise UserError(
            f"{model} has no champion before this one: no version is called {PREVIOUS}; `tucano ui` links to its"
            " versions, and the alias champion can be set to any of them there"
        )
    said = short(why, LONGEST)
    tracker.crown(model, previous.version, {"back.who": user_name() or "unknown", "back.why": said})
    print(f"{model} version {previous.version} is champion again; version {champion.version} is {PREVIOUS} now")
    print("tucano serve notices that within seconds; what loads the model by its alias does at its next start")
    try:
        record_back(root, model, previous.version, said)
    except OSError as error:
        print(f"warning: the overview does not know of it ({error}); the registry does")
    print(f"Overview  {announced(root)}")
    return 0
