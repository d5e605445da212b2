"""Whether a base can be asked as the settings say, before anything is trained on it.

Apart from the templates themselves, which settings read: a key of data must not name transformers.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from tucano.artifacts.identity import SHIPPED
from tucano.bases.folders import tokenizer_in
from tucano.chat_templates import ASKED, KNOWN, behind, speaking
from tucano.errors import UserError
from tucano.security.printable import short

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

SHIPPED_AS = ("chat_template.jinja", "chat_template.json")


def require_speaking(name: str, place: str, revision: str | None, template: str | None) -> None:
    """UserError for a base that has no template and is given none, and for one that does not suit it; of a tokenizer
    that is not at hand only the template is looked at.
    """
    is_here = Path(place).is_dir()
    if template is None:
        if is_here and not _ships_one(Path(place)):
            raise UserError(
                f"model.name={name} has no chat template, as bases have none: say how it is asked with"
                " --set model.chat_template=chatml (or plain, or a Jinja file)"
            )
        if is_here and name not in SHIPPED:
            require_asked(tokenizer_in(Path(place)))
    elif is_here:
        speaking(tokenizer_in(Path(place)), template)
    else:
        _require_suitable(place, revision, template)


def require_asked(tokenizer: "PreTrainedTokenizerBase") -> None:
    """UserError for a tokenizer whose own template does not take a system prompt and a question."""
    try:
        tokenizer.apply_chat_template(ASKED, add_generation_prompt=True, tokenize=False)
    except Exception as fault:
        raise refused_template(tokenizer, fault) from None


def refused_template(tokenizer: "PreTrainedTokenizerBase", fault: Exception) -> UserError:
    """What is said of a tokenizer's own template, which is a program of others and may raise anything."""
    why = "it has none" if tokenizer.chat_template is None else short(str(fault))
    return UserError(
        f"the model's chat template does not take a system prompt and a question ({why}); choose a model that was"
        " trained to follow instructions, or give this one a template with model.chat_template=chatml"
    )


def _require_suitable(place: str, revision: str | None, template: str) -> None:
    from transformers import AutoTokenizer
    from transformers.utils.chat_template_utils import render_jinja_template

    try:
        tokenizer = AutoTokenizer.from_pretrained(place, revision=revision, local_files_only=True)
    except Exception:  # what is damaged in a hub's cache, loading says
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
