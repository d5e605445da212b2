"""Whether a base can be asked as the settings say, before anything is trained on it.

Apart from the templates themselves, which settings read: a key of data must not name transformers.
"""

from pathlib import Path

from tucano.chat_templates import KNOWN, behind, speaking
from tucano.errors import UserError

SHIPPED_AS = ("chat_template.jinja", "chat_template.json")


def require_speaking(name: str, place: str, revision: str | None, template: str | None) -> None:
    """UserError for a base that has no template and is given none, and for one that does not suit it; of a tokenizer
    that is not at hand only the template is looked at.
    """
    if template is None:
        if Path(place).is_dir() and not _ships_one(Path(place)):
            raise UserError(
                f"model.name={name} has no chat template, as bases have none: say how it is asked with"
                " --set model.chat_template=chatml (or plain, or a Jinja file)"
            )
        return
    from transformers import AutoTokenizer
    from transformers.utils.chat_template_utils import render_jinja_template

    try:
        tokenizer = AutoTokenizer.from_pretrained(place, revision=revision, local_files_only=True)
    except (OSError, ValueError):
        named = {"chat_template": KNOWN.get(template, template), "bos_token": "", "eos_token": ""}
        behind(lambda chat, opened: str(render_jinja_template([chat], add_generation_prompt=opened, **named)[0][0]))
    else:
        speaking(tokenizer, template)


def _ships_one(folder: Path) -> bool:
    """Also where there is no tokenizer that could lack one."""
    config = folder / "tokenizer_config.json"
    return (
        any((folder / file).exists() for file in SHIPPED_AS)
        or not config.is_file()
        or '"chat_template"' in config.read_text(encoding="utf-8", errors="replace")
    )
