"""Whether a base can be asked as the settings say, before anything is trained on it.

Apart from the templates themselves, which settings read: a key of data must not name transformers.
"""

import copy
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tucano.artifacts.identity import SHIPPED
from tucano.bases.folders import require_end_tokens, tokenizer_in
from tucano.chat_templates import ANSWER, ASKED, KNOWN, Render, behind, lost_marks, rendering, speaking
from tucano.errors import UserError
from tucano.security.printable import short

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

OURS = {"nano", *SHIPPED}
"""Models whose templates are ours."""
Fault = Callable[[Render, "PreTrainedTokenizerBase | None"], bool]
"""Whether a template, and the tokenizer that writes by it where one is at hand, have a fault."""
OTHERWISE = "give the model another with model.chat_template=chatml (or plain, or a Jinja file)"
SHIPPED_AS = ("chat_template.jinja", "chat_template.json")


def require_speaking(name: str, place: str, revision: str | None, template: str | None) -> None:
    """UserError for a base that has no template and is given none, and for one that does not suit it; of a tokenizer
    that is not at hand only the template is looked at.
    """
    is_here = Path(place).is_dir()
    if template is None and is_here and not _ships_one(Path(place)):
        raise UserError(
            f"model.name={name} has no chat template, as bases have none: say how it is asked with"
            " --set model.chat_template=chatml (or plain, or a Jinja file)"
        )
    if template is None and name in OURS:
        return
    tokenizer = at_hand(place, revision)
    if tokenizer is not None and template is None:
        require_asked(tokenizer, _declared_ends(place, revision))
    elif tokenizer is not None:
        speaking(tokenizer, template)
    elif template is not None:
        behind(_by_itself(template))


def has(fault: Fault, name: str, place: str, revision: str | None, template: str | None) -> bool:
    """Whether a template that is not ours has this fault, as far as that is known here."""
    if template in KNOWN or (template is None and name in OURS):
        return False
    try:
        tokenizer = at_hand(place, revision)
        if tokenizer is not None:
            return fault(rendering(speaking(tokenizer, template)), tokenizer)
        return template is not None and fault(_by_itself(template), None)
    except Exception:  # `require_speaking` says what is wrong with it
        return False


def shares_a_token(write: Render, tokenizer: "PreTrainedTokenizerBase | None") -> bool:
    """Whether the last token of a prompt goes on into the answer, so that what is shown whole is cut elsewhere than
    what is asked: two line ends behind a thought are one token to Qwen3.
    """
    if tokenizer is None:
        return False
    asked, whole = write(ASKED, True), write([*ASKED, {"role": "assistant", "content": ANSWER}], False)
    prompt, shown = (tokenizer.encode(text, add_special_tokens=False) for text in (asked, whole))
    return shown[: len(prompt)] != prompt


def lacks_marks(name: str, place: str, revision: str | None) -> list[str]:
    """The marks of a thought that are no tokens of a base, as far as that is known here; nano is built with them."""
    tokenizer = None if name == "nano" else at_hand(place, revision)
    return [] if tokenizer is None else lost_marks(tokenizer)


def suited(tokenizer: "PreTrainedTokenizerBase | None", wanted: str) -> str:
    """This known template, or the one that needs no marks of turns where the tokenizer has none for it."""
    if tokenizer is None:
        return wanted
    try:
        speaking(copy.deepcopy(tokenizer), wanted)
    except UserError:
        return "plain"
    return wanted


def require_asked(tokenizer: "PreTrainedTokenizerBase", ends: Collection[int] | None = None) -> None:
    """UserError for a tokenizer whose own template does not take a system prompt and a question, or by which no answer
    would end. ends: what the model is stopped at beside the tokenizer's own end, None where that is not known.
    """
    try:
        tokenizer.apply_chat_template(ASKED, add_generation_prompt=True, tokenize=False)
    except Exception as fault:
        if "'eos_token' is undefined" not in str(fault):  # of which the tokenizer is told below
            raise refused_template(tokenizer, fault) from None
    shown = behind(rendering(tokenizer), "the model's own chat template", OTHERWISE)
    known = {tokenizer.eos_token_id, *(ends or ())}
    if ends is not None and not known & set(tokenizer.encode(shown, add_special_tokens=False)):
        put = (
            f"puts {shown!r} behind an answer, and no end token is in it" if shown else "puts nothing behind an answer"
        )
        raise UserError(f"the model's own chat template {put}, so no answer would end; {OTHERWISE}")


def refused_template(tokenizer: "PreTrainedTokenizerBase", fault: Exception) -> UserError:
    """What is said of a tokenizer's own template, which is a program of others and may raise anything."""
    why = "it has none" if tokenizer.chat_template is None else short(str(fault))
    return UserError(
        f"the model's chat template does not take a system prompt and a question ({why}); choose a model that was"
        " trained to follow instructions, or give this one a template with"
        f" model.chat_template={suited(tokenizer, 'chatml')}"
    )


def at_hand(place: str, revision: str | None) -> "PreTrainedTokenizerBase | None":
    """That of a folder, or what is kept of a hub's; what is damaged in a hub's cache, loading says."""
    if Path(place).is_dir():
        return tokenizer_in(Path(place))
    from huggingface_hub import try_to_load_from_cache

    try:
        if not isinstance(try_to_load_from_cache(place, "tokenizer_config.json", revision=revision), str):
            return None
        from transformers import AutoTokenizer

        kept: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(place, revision=revision, local_files_only=True)
        return kept
    except Exception:
        return None


def _declared_ends(place: str, revision: str | None) -> list[int] | None:
    """The end tokens that the model's own config names, of a folder or kept of a hub's; None where that is not for this
    check to say.
    """
    from transformers import AutoConfig, GenerationConfig

    where: dict[str, Any] = {} if Path(place).is_dir() else {"revision": revision, "local_files_only": True}
    try:
        try:
            config = GenerationConfig.from_pretrained(place, **where)
        except OSError:  # it has none of its own
            config = AutoConfig.from_pretrained(place, **where)
        return require_end_tokens(config.eos_token_id)
    except Exception:
        return None


def _by_itself(template: str) -> Render:
    """How a template writes of which the tokenizer is not at hand."""
    from transformers.utils.chat_template_utils import render_jinja_template

    named = {"chat_template": KNOWN.get(template, template), "bos_token": "", "eos_token": ""}
    return lambda chat, opened: str(render_jinja_template([chat], add_generation_prompt=opened, **named)[0][0])


def _ships_one(folder: Path) -> bool:
    """Also where there is no tokenizer that could lack one."""
    config = folder / "tokenizer_config.json"
    return (
        any((folder / file).exists() for file in SHIPPED_AS)
        or not config.is_file()
        or '"chat_template"' in config.read_text(encoding="utf-8", errors="replace")
    )
