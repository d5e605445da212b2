"""The settings as a page for readers, docs/settings.md."""

import math
import re
from typing import Any

import yaml
from pydantic import BaseModel

from tucano.settings.pipeline import PipelineSettings

HEAD = """# Settings

`python -m docs.generate` writes this page.

A profile in `prefect.yaml` names the settings in which it differs from the defaults below. A run changes further ones:

```
tucano run laptop --set grpo.max_steps=20 --set 'data.mix={extraction: 0.5, push: 0.5}'
```

A value is read as YAML. What is unknown, out of range, does nothing or harms is refused in one sentence before anything
runs. Behind each default stands what else is possible; *empty* means that nothing is set. Whole numbers begin at 1
where nothing else is said. «TRL» gives the name there, where it is another one; an x stands between two factors. In a
command the section comes first: `grpo.beta`.
"""
TRL = re.compile(r" TRL: (.+)\.$")
"""How a field's description names its counterparts in TRL."""
FAR = 1000
MANY = 8
"""Ends and choices that are not told."""


def reference() -> str:
    """The whole page as Markdown: a list for the run itself, one per section, and one per kind of row in a list."""
    schema = PipelineSettings.model_json_schema()
    kinds = schema["$defs"]
    fields = schema["properties"]
    sections = {name: value["$ref"].rpartition("/")[2] for name, value in fields.items() if "$ref" in value}
    own = {name: value for name, value in fields.items() if name not in sections}
    parts = [HEAD, "## The run itself\n", _list(own)]
    for name, kind in sections.items():
        parts += [f"## `{name}`\n", _intro(kinds[kind]), _list(kinds[kind]["properties"])]
    parts += ["## Rows of lists\n"]
    for kind in (kind for kind in kinds if kind not in sections.values()):
        parts += [f"### {kind}\n", _intro(kinds[kind]), _list(kinds[kind]["properties"])]
    return "\n".join(parts)


def trl_names(model: type[BaseModel]) -> dict[str, list[str]]:
    """{field: its names in TRL} of a section, as the descriptions say."""
    found = {name: TRL.search(info.description or "") for name, info in model.model_fields.items()}
    return {name: re.split(" x |, ", match[1]) for name, match in found.items() if match}


def _intro(kind: dict[str, Any]) -> str:
    return f"{kind['description'].partition(chr(10) + chr(10))[0]}\n"


def _list(fields: dict[str, Any]) -> str:
    return "\n".join([*(_line(name, field) for name, field in fields.items()), ""])


def _line(name: str, field: dict[str, Any]) -> str:
    described = TRL.sub(lambda found: " TRL: " + re.sub(r"\w{2,}", r"`\g<0>`", found[1]) + ".", field["description"])
    default, value = _default(field), _value(field)
    return f"- `{name}` ({default}; {value}): {described}" if value else f"- `{name}` ({default}): {described}"


def _value(field: dict[str, Any]) -> str:
    """What a setting may be beside its default, from its JSON schema; nothing for yes or no, and for plain text."""
    if "$ref" in field:
        return str(field["$ref"]).rpartition("/")[2]
    if "enum" in field or "const" in field:
        choices = field.get("enum", [field.get("const")])
        if len(choices) > MANY:
            return "names"
        return ", ".join(f"`{choice}`" for choice in choices if choice != field.get("default"))
    if "anyOf" in field:
        return " or ".join(filter(None, (_value(option) for option in field["anyOf"] if option.get("type") != "null")))
    if "prefixItems" in field:
        return f"({', '.join(item['type'] for item in field['prefixItems'])})"
    if field["type"] == "array":
        return f"list of {_value_of_many(field['items'])}"
    if field["type"] == "object":
        return f"mapping to {_value_of_many(field['additionalProperties'])}"
    return _range(field) if field["type"] in ("integer", "number") else str(field.get("format", ""))


def _value_of_many(item: dict[str, Any]) -> str:
    kind = item.get("type")
    return "numbers" if kind in ("integer", "number") else _value(item) or "texts"


def _range(field: dict[str, Any]) -> str:
    """`0 to 1`, `above 0`, `from 0`; of integers nothing where they begin at 1. Ends that no run comes near are left
    out.
    """
    step = 1 if field["type"] == "integer" else 0
    low, above = field.get("minimum"), field.get("exclusiveMinimum")
    high, below = field.get("maximum"), field.get("exclusiveMaximum")
    if above is not None and (low is None or above >= low):
        low, start = above + step, f"{above + 1:.10g}" if step else f"above {above:.10g}"
    else:
        start = "" if low is None else f"{low:.10g}"
    if below is not None and (high is None or below <= high):
        high, end = below, f"{below - 1:.10g}" if step else f"below {below:.10g}"
    else:
        end = "" if high is None else f"{high:.10g}"
    if high is not None and high < FAR:
        return f"{start} to {end}" if start else f"at most {end}"
    return "" if step and low == 1 else f"from {start}".replace("from above", "above") if start else ""


def _default(field: dict[str, Any]) -> str:
    if "default" not in field:
        return "must be given"
    if field["default"] in (None, [], {}):
        return "empty"
    text = yaml.safe_dump(field["default"], default_flow_style=True, width=math.inf, sort_keys=False)
    return f"`{text.removesuffix('...' + chr(10)).strip()}`"
