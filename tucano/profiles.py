"""Profiles: named differences from the default settings, kept only in prefect.yaml as the parameters of its
deployments.
"""

import difflib
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from copy import deepcopy
from itertools import accumulate
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

import yaml
from pydantic import BaseModel, ValidationError

from tucano.errors import SecretInSettings, UserError
from tucano.project import OWN_FILES
from tucano.prompts import TASKS, decoded
from tucano.security.printable import short
from tucano.settings import PipelineSettings

PROJECT_FILE = "prefect.yaml"
MOST_VALUES = 100_000
MOST_OPEN, _BRACKETS = 100, {"[": 1, "{": 1, "]": -1, "}": -1}
NAME_IN_QUOTES = r"'([^']*)'"
TRAIN = "flows.train.train"
"""Entrypoint of the deployments that are profiles."""
LONGEST_SENTENCE = 600


def project_root(start: Path) -> Path:
    """The folder of the nearest prefect.yaml at or above `start`; without one, of the one that came with tucano."""
    return next((folder for folder in (start, *start.parents) if (folder / PROJECT_FILE).is_file()), OWN_FILES)


class OneMeaning(yaml.SafeLoader):
    """YAML without what people and PyYAML read differently: a name given twice (the last one counted), and numbers in
    base 8 or 60 (`010`, `1:30`). ConstructorError for those, and for a value that holds itself.
    """

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        return super().construct_object(node, deep=True)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        names = [name.value for name, _ in node.value] if isinstance(node, yaml.MappingNode) else []
        for name in (name for name in names if names.count(name) > 1):
            raise yaml.constructor.ConstructorError(None, None, f"{name} stands twice", node.start_mark)
        return super().construct_mapping(node, deep)

    def construct_number(self, node: yaml.ScalarNode) -> Any:
        if re.match(r"[-+]?0[\d_xb]|.*:", self.construct_scalar(node)):
            raise yaml.constructor.ConstructorError(
                None, None, f"{node.value} is no plain decimal number; write it as one, or in quotes", node.start_mark
            )
        return getattr(self, f"construct_yaml_{node.tag.rpartition(':')[2]}")(node)


for kind in ("int", "float"):
    OneMeaning.add_constructor(f"tag:yaml.org,2002:{kind}", OneMeaning.construct_number)


def meant(text: str) -> Any:
    """The value of a text in YAML. YAMLError for one that is none."""
    if max(accumulate(_BRACKETS.get(mark, 0) for mark in text), default=0) > MOST_OPEN:
        raise yaml.YAMLError(f"more than {MOST_OPEN} brackets stand open at once")  # PyYAML's time is their square
    try:
        found = yaml.load(text, OneMeaning)
        if _size(found, {}) > MOST_VALUES:
            raise ValueError(f"its aliases stand for more than {MOST_VALUES} values")
        return found
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise yaml.YAMLError(str(error)) from None  # PyYAML's own, of month 13, `!!bool perhaps`, 3,000 brackets


def _size(value: Any, known: dict[int, int]) -> int:
    """How many values stand in one, those that aliases repeat as often as they stand there."""
    if not isinstance(value, dict | list):
        return 1
    if id(value) not in known:
        known[id(value)] = 1  # within itself, for an alias may lead there
        parts = value.values() if isinstance(value, dict) else value
        known[id(value)] = 1 + sum(_size(part, known) for part in parts)
    return known[id(value)]


class _Deployment(BaseModel):
    name: str
    entrypoint: str
    parameters: dict[str, Any] = {}


class _Project(BaseModel):
    """What is read of prefect.yaml here; deployments/validate.py looks at the rest."""

    deployments: list[_Deployment]


def read_project(root: Path) -> dict[str, Any]:
    """What prefect.yaml says. UserError where it is no YAML, or some that can be read in two ways, or has no list of
    deployments.
    """
    file = root / PROJECT_FILE
    text = decoded(file.read_bytes(), file)
    try:
        content: dict[str, Any] = meant(text)
        _Project.model_validate(content)
    except yaml.MarkedYAMLError as error:
        where = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise UserError(f"{file}{where}: {error.problem}") from None
    except yaml.YAMLError as error:
        raise UserError(f"{file}: it is no YAML ({short(str(error), 100)})") from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        said = first["msg"].partition(" or instance of")[0]
        raise UserError(f"{file}: {place}: {said[0].lower()}{said[1:]}; write it as the released file has it") from None
    return content


def profiles(root: Path) -> dict[str, dict[str, Any]]:
    """Name and settings of every deployment of the train flow."""
    found: dict[str, dict[str, Any]] = {}
    for deployment in read_project(root)["deployments"]:
        if deployment["entrypoint"] == TRAIN:
            settings = deployment.get("parameters", {}).get("settings")
            if not isinstance(settings, dict):
                raise UserError(
                    f"{root / PROJECT_FILE}: deployment {short(deployment['name'])} has no settings; write them below"
                    " its parameters"
                )
            if deployment["name"] in found:
                name = short(deployment["name"])
                raise UserError(f"{root / PROJECT_FILE}: two profiles are named {name}; rename one")
            found[deployment["name"]] = settings
    return found


def load_profile(root: Path, name: str, overrides: Sequence[str]) -> PipelineSettings:
    """The settings of a profile with `section.field=value` overrides; every mistake is one UserError sentence."""
    known = profiles(root)
    if name not in known:
        raise UserError(
            f"there is no profile {short(name)!r}{nearest(name, known)}; {PROJECT_FILE} has: {', '.join(known)}"
        )
    values = deepcopy(known[name])
    for override in overrides:
        _apply(values, override)
    settings = validated(values)
    changed = {override.partition("=")[0] for override in overrides}
    if "grpo.max_steps" not in changed or changed & {"grpo.patience", "grpo.eval_steps"}:
        settings.grpo.warn_of_patience()  # a run that is cut short to be tried is not meant to stop early
    return settings


Difference = tuple[str, Any, Any]


def differences(here: PipelineSettings, there: PipelineSettings) -> list[Difference]:
    """(setting, here, there) wherever two settings differ, in the order of the fields."""
    ours, theirs = (_flat(settings.model_dump(mode="json")) for settings in (here, there))
    return [
        (name, ours.get(name), theirs.get(name)) for name in {**ours, **theirs} if ours.get(name) != theirs.get(name)
    ]


def nearest_profile(root: Path, settings: PipelineSettings) -> tuple[str, list[Difference]]:
    """The profile that differs in the fewest settings, and those differences."""
    known = {name: differences(settings, validated(values)) for name, values in profiles(root).items()}
    return min(known.items(), key=lambda item: len(item[1]))


def _flat(values: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """Nested values by dotted names: `{"grpo.max_steps": 1500}`."""
    rows: dict[str, Any] = {}
    for name, value in values.items():
        rows |= _flat(value, f"{above}{name}.") if isinstance(value, Mapping) else {f"{above}{name}": value}
    return rows


def validated(values: Mapping[str, Any]) -> PipelineSettings:
    """PipelineSettings from plain values; the first fault as one sentence that names the field and the mend."""
    try:
        return PipelineSettings.model_validate(values)
    except ValidationError as error:
        raise UserError(_sentence(error)) from None
    except SecretInSettings as error:
        raise UserError(str(error)) from None


def _sentence(error: ValidationError) -> str:
    first = error.errors()[0]
    place = _clipped(".".join(str(part) for part in first["loc"]))
    given = _clipped(repr(first["input"]))
    if first["type"] == "extra_forbidden":
        return f"there is no setting {place!r}{nearest(place, setting_types(PipelineSettings))}"
    message = first["msg"].removeprefix("Value error, ")
    if first["type"] == "value_error":
        return short(message, LONGEST_SENTENCE)
    if first["type"] == "literal_error":
        choices = first["ctx"]["expected"]
        return (
            f"{place}={given} is not one of"
            f" {choices}{nearest(str(first['input']), re.findall(NAME_IN_QUOTES, choices))}"
        )
    return f"{place}={given} is not valid: {message[0].lower()}{message[1:]}"


def _clipped(text: str) -> str:
    text = re.sub(r"(://(?:(?!://)[^\s?#])*[?#]).+", r"\1…", text)  # a query may hold what nobody should read
    return short(text)


def setting_types(model: type[BaseModel], prefix: str = "") -> dict[str, Any]:
    """{name: type} of every setting, like `grpo.max_steps`."""
    found: dict[str, Any] = {}
    for name, info in model.model_fields.items():
        inner = info.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            found |= setting_types(inner, f"{prefix}{name}.")
        else:
            found[f"{prefix}{name}"] = inner
    return found


def _is_text(annotation: Any) -> bool:
    """Whether a setting is a text, or a text or nothing."""
    if get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    return annotation is str or (type(None) in get_args(annotation) and any(map(_is_text, get_args(annotation))))


def _apply(values: dict[str, Any], override: str) -> None:
    name, equals, text = override.partition("=")
    if not equals:
        shown = _clipped(override)
        raise UserError(f"--set {shown} has no value; write it as --set {shown or 'grpo.max_steps'}=200")
    fields = setting_types(PipelineSettings)
    known = [*fields, *(f"data.mix.{task}" for task in TASKS)]
    if name not in known:
        raise UserError(f"there is no setting {_clipped(name)!r}{nearest(name, known)}")
    *sections, last = name.split(".")
    inner: Any = values
    for section in sections:
        inner = inner.setdefault(section, {})
        if not isinstance(inner, dict):
            raise UserError(
                f"--set {name} goes into {section}, which was set to {_clipped(repr(inner))}; set it as a whole or in"
                " parts"
            )
    inner[last] = _text(text, fields[name]) if _is_text(fields.get(name)) else _value(text)


def _text(text: str, annotation: Any) -> str | None:
    """As it stands: a folder may be called [x] or ~. Nothing is written as nothing, or as null where it is allowed."""
    may_be_none = type(None) in get_args(annotation)
    return None if not text or (text == "null" and may_be_none) else text


def _value(text: str) -> Any:
    """YAML's reading of a value, except that what YAML takes for a date or cannot read stays text."""
    try:
        value = meant(text)
    except yaml.YAMLError:
        return text
    return value if value is None or isinstance(value, bool | int | float | list | dict) else text


def nearest(name: str, known: Iterable[str]) -> str:
    """The end of a sentence about an unknown name: the known one it is close to, or nothing."""
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f"; did you mean {close[0]!r}?" if close else ""
