"""The settings as a page for readers, docs/settings.md."""

import math
import re
from typing import Any

import yaml
from pydantic import BaseModel

from tucano.settings.pipeline import PipelineSettings

HEAD = """# Settings

This page is written by `python -m docs.generate`; a test says when it is not current.

A profile in `prefect.yaml` names the settings in which it differs from the defaults below. A single run changes further
ones on the command line:

```
tucano run laptop --set grpo.max_steps=20 --set 'data.mix={extraction: 0.5, push: 0.5}'
```

A value is read as YAML, so lists and mappings are written as there. A setting that does not exist, a value out of
range, and a combination that would do nothing or harm are refused in one sentence before anything runs. *Empty* means
that nothing is set.

The last column holds the name under which users of TRL know a setting, where it is another one. An x stands between the
two factors of a product.
"""
TRL = re.compile(r" TRL: (.+)\.$")
"""How a field's description names its counterparts in TRL."""
LIMITS = {
    "minimum": "at least",
    "exclusiveMinimum": "above",
    "maximum": "at most",
    "exclusiveMaximum": "below",
}


def reference() -> str:
    """The whole page as Markdown: a table for the run itself, one per section, and one per kind of row in a list."""
    schema = PipelineSettings.model_json_schema()
    kinds = schema["$defs"]
    fields = schema["properties"]
    sections = {name: value["$ref"].rpartition("/")[2] for name, value in fields.items() if "$ref" in value}
    own = {name: value for name, value in fields.items() if name not in sections}
    parts = [HEAD, "## The run itself\n", _table(own, "")]
    for name, kind in sections.items():
        parts += [f"## `{name}`\n", _intro(kinds[kind]), _table(kinds[kind]["properties"], f"{name}.")]
    parts += ["## Rows of lists\n"]
    for kind in (kind for kind in kinds if kind not in sections.values()):
        parts += [f"### {kind}\n", _intro(kinds[kind]), _table(kinds[kind]["properties"], "")]
    return "\n".join(parts)


def trl_names(model: type[BaseModel]) -> dict[str, list[str]]:
    """{field: its names in TRL} of a section, as the descriptions say."""
    found = {name: TRL.search(info.description or "") for name, info in model.model_fields.items()}
    return {name: re.split(" x |, ", match[1]) for name, match in found.items() if match}


def _intro(kind: dict[str, Any]) -> str:
    return f"{kind['description'].partition(chr(10) + chr(10))[0]}\n"


def _table(fields: dict[str, Any], prefix: str) -> str:
    rows = [_row(f"{prefix}{name}", field) for name, field in fields.items()]
    return "\n".join(["| setting | value | default | what it is | TRL |", "|---|---|---|---|---|", *rows, ""])


def _row(name: str, field: dict[str, Any]) -> str:
    described = field["description"]
    match = TRL.search(described)
    trl = re.sub(r"\w{2,}", r"`\g<0>`", match[1]) if match else ""
    cells = (f"`{name}`", _value(field), _default(field), TRL.sub("", described), trl)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _value(field: dict[str, Any]) -> str:
    """What a setting may be, from its JSON schema: `one`, `of these`; integer, 1 or more; a list of ..."""
    if "$ref" in field:
        return str(field["$ref"]).rpartition("/")[2]
    if "enum" in field or "const" in field:
        return ", ".join(f"`{choice}`" for choice in field.get("enum", [field.get("const")]))
    if "anyOf" in field:
        return " or ".join(_value(option) for option in field["anyOf"] if option.get("type") != "null")
    if "prefixItems" in field:
        return f"({'; '.join(_value(item) for item in field['prefixItems'])})"
    if field["type"] == "array":
        return f"list of {_value(field['items'])}"
    if field["type"] == "object":
        return f"mapping to {_value(field['additionalProperties'])}"
    if field["type"] == "boolean":
        return "`true`, `false`"
    word = field.get("format", "text") if field["type"] == "string" else field["type"]
    return ", ".join([word, *_limits(field)])


def _limits(field: dict[str, Any]) -> list[str]:
    return [f"{words} {field[limit]:.10g}" for limit, words in LIMITS.items() if limit in field]


def _default(field: dict[str, Any]) -> str:
    if "default" not in field:
        return "must be given"
    if field["default"] in (None, [], {}):
        return "empty"
    text = yaml.safe_dump(field["default"], default_flow_style=True, width=math.inf, sort_keys=False)
    return f"`{text.removesuffix('...' + chr(10)).strip()}`"
