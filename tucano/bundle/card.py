"""The model card: what a hub shows of a model, in its format, with the verdict's own numbers and reservations."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tucano.artifacts.lineage import COMMIT
from tucano.bundle.reading import Contents
from tucano.comparison.compare import TOGETHER, Comparison
from tucano.comparison.contrast import Effect
from tucano.presentation.numbers import english, p_value, possible
from tucano.presentation.tables import pipe_table
from tucano.security.printable import escaped
from tucano.settings.model import ModelSettings

KNOWN_LICENCES = {"CC0-1.0": "cc0-1.0", "CC BY-NC-SA 4.0 (noncommercial)": "cc-by-nc-sa-4.0"}
"""As data carry them, and as hubs call them."""


@dataclass(frozen=True, slots=True)
class Use:
    """What a card says beyond what holds of every form of a model: `header` in place of the same entries of the YAML
    header, `parts` on how to use it, `check` on how to check it.
    """

    header: Mapping[str, Any]
    parts: Sequence[str]
    check: str


BUNDLED = Use(
    {},
    (),
    "This card lies in a bundle with data recipe, settings, answers, ratings and weights. `tucano verify BUNDLE` holds"
    " all of it against itself and makes these numbers again.",
)


def render(contents: Contents, use: Use = BUNDLED) -> str:
    """README.md: a YAML header, then English prose, then the summary in Portuguese."""
    manifest = contents.manifest
    comparison = contents.comparison
    header = yaml.safe_dump({**_header(contents), **use.header}, sort_keys=False, allow_unicode=True)
    parts = [
        f"---\n{header}---",
        f"# {escaped(manifest.model)} version {manifest.version}",
        f"**{escaped(comparison.verdict.headline)}**",
        *map(escaped, comparison.verdict.reservations),
        _what_it_is(contents),
        *use.parts,
        "## Numbers",
        *_numbers(comparison),
        "## What may be said",
        _listed(comparison.verdict.sentences),
        "## Data and licences",
        *_data(contents),
        "## Limits",
        *_limits(contents),
        "## How to check this",
        f"{use.check} Weights: `{manifest.tags.get('digest.files', '')[:16]}`, pipeline:"
        f" `{manifest.chain['report'][:16]}`.",
        "## Resumo em português",
        f"**{escaped(comparison.verdict.headline_pt)}**",
        *map(escaped, comparison.verdict.reservations_pt),
        _listed(comparison.verdict.sentences_pt),
    ]
    return "\n\n".join(parts) + "\n"


def _header(contents: Contents) -> dict[str, Any]:
    settings = contents.settings
    manifest = contents.manifest
    ours = settings.model.is_ours
    return {
        "language": ["pt"],
        **_licence(manifest.tags["licences"], ours),
        "library_name": "transformers",
        "pipeline_tag": "text-generation",
        **({"base_model": hub} if (hub := base_on_hub(settings.model)) else {}),
        "datasets": [part.source for part in settings.data.parts],
        "metrics": ["reward", "truth"],
        "tags": ["e-commerce", "grpo", *settings.tasks],
        "model-index": [{"name": manifest.model, "results": list(_results(contents))}],
    }


def _licence(licences: str, ours: bool) -> dict[str, str]:
    """One name that hubs know where there is just one, and no base whose licence binds too."""
    known = KNOWN_LICENCES.get(licences)
    if known and ours:
        return {"license": known}
    return {"license": "other", "license_name": licences if ours else f"{licences}; and the base model's"}


def _results(contents: Contents) -> Iterator[dict[str, Any]]:
    """Mean reward of the registered arm on the held-out prompts, over all and by task."""
    comparison = contents.comparison
    row = comparison.means[comparison.primary][contents.registered]
    for name, value in row.items():
        yield {
            "task": {"type": "text-generation", "name": name},
            "dataset": {"name": f"{comparison.prompts} held-out prompts", "type": contents.settings.data.label},
            "metrics": [{"type": "reward", "name": f"mean reward, {comparison.primary}", "value": round(value, 4)}],
        }


def _what_it_is(contents: Contents) -> str:
    settings = contents.settings
    base = (
        "A small language model that was built and trained from random weights on a CPU. It shows that the pipeline"
        " works; it is no general language model."
        if settings.model.name == "nano"
        else f"A LoRA adapter on {_base(settings.model)}, merged."
    )
    return (
        f"{base} It answers {', '.join(settings.tasks)} for Brazilian e-commerce, in Portuguese, each with its own"
        f" system prompt. Trained by GRPO with the rewards `{settings.grpo.rewards}` and"
        f" {len(contents.seeds)} seeds; this is {contents.registered}, the best on validation."
    )


def base_on_hub(model: ModelSettings) -> str | None:
    """The name of a base that lies on a hub, pinned to a commit."""
    return model.name if COMMIT.fullmatch(model.revision or "") and not Path(model.name).exists() else None


def _base(model: ModelSettings) -> str:
    if model.is_ours:
        return f"{model.name}, the small model that comes with Tucano Commerce (it is no general language model)"
    return f"{escaped(model.name)} (commit {model.revision})"


def _numbers(comparison: Comparison) -> Iterator[str]:
    main = comparison.main
    yield (
        f"Mean gain of the seeds over {main.reference} on {comparison.prompts} held-out prompts ({comparison.primary}"
        " answers) with its 95 % interval; p is exact and one-sided, over the tasks after Holm. Reward, then ground"
        " truth, which shares nothing with the reward."
    )
    truth = comparison.find(TOGETHER, main.reference, comparison.primary, "truth")
    for found in (main, truth):
        if found is not None:
            rows = [(name, effect) for name, effect in [*found.tasks.items(), ("overall", found.overall)]]
            head = (found.measure, "prompts", "before", "after", "gain", "95 % interval", "p")
            yield "\n".join(pipe_table([head, *(_row(name, effect) for name, effect in rows)]))


def _row(name: str, effect: Effect) -> tuple[str, ...]:
    return (
        name,
        str(effect.n),
        english(effect.reference_mean),
        english(effect.arm_mean),
        english(effect.gain, signed=True),
        _interval(effect),
        p_value(effect.p if effect.p_holm is None else effect.p_holm).removeprefix("= "),
    )


def _interval(effect: Effect) -> str:
    ends = possible(effect.mean_low, effect.mean_high)
    return "unknown" if ends is None else f"[{english(ends[0], signed=True)}, {english(ends[1], signed=True)}]"


def _data(contents: Contents) -> Iterator[str]:
    settings = contents.settings
    tags = contents.manifest.tags
    counts = f"{settings.data.train_prompts} training prompts and {settings.data.demonstrations} demonstrations"
    yield f"{counts} of the source {escaped(settings.data.label)}; licences: {escaped(tags['licences'])}."
    if tags.get("noncommercial") == "True":
        yield "**Not for commercial use**: the licence of its data does not allow it."
    if contents.manifest.consent is not None:
        yield f"Texts of others are in the bundle; {escaped(contents.manifest.consent)} answers for passing them on."
    audit = f"The rewards' audit against ratings: {escaped(tags.get('audit', '-'))}"
    by = tags.get("audit.override_by")
    why = tags.get("audit.override_reason")
    yield f"{audit}; overridden by {escaped(by)}: {escaped(why or '')}." if by else f"{audit}."


def _limits(contents: Contents) -> Iterator[str]:
    comparison = contents.comparison
    shown = ", ".join(contents.settings.tasks)
    yield _listed(
        (
            f"It was judged on {comparison.prompts} prompts like those that it was trained on ({shown}), and on nothing"
            " else; what it says elsewhere is unknown.",
            "Rewards and ground truth are programs. They were held against people's ratings, and are no people.",
            f"The test set has judged {comparison.looks} time(s); the more often, the less it says.",
            "Its answers may be wrong. Do not act on figures, queries or offers of it that nobody has checked.",
        )
    )


def _listed(sentences: tuple[str, ...]) -> str:
    return "\n".join(f"- {escaped(sentence)}" for sentence in sentences)
