"""Chat templates for bases that have none, or one that does not fit: `model.chat_template`.

A template says how turns are written, and by that how an answer ends: the mark that it puts behind one is what the
model is stopped at, whatever the tokenizer ends texts with.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from tucano.errors import UserError
from tucano.thoughts import CLOSE, NONE_YET, ON, OPEN, told, with_thought, without_an_empty_one

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

LONGEST = 2**16
"""Characters of a template; those of large models have 8,000."""
EMPTY = NONE_YET.replace("\n", "\\n")
CHATML = (
    "{%- for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n'"
    " }}{%- endfor %}{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{%- endif %}"
)
PER_TASK = (
    f"{{%- set thinks = messages[0]['role'] == 'system' and messages[0]['content'].endswith(' {ON}') %}}"
    "{%- for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' }}"
    "{%- if message['role'] != 'assistant' %}{{ message['content'] }}"
    f"{{%- elif thinks and (loop.last or '{CLOSE}' in message['content']) %}}"
    f"{{{{ '{OPEN}\\n' + message['content'].replace('{OPEN}', '', 1).lstrip('\\n') }}}}"
    f"{{%- else %}}{{{{ '{EMPTY}' + message['content'] }}}}{{%- endif %}}{{{{ '<|im_end|>\\n' }}}}{{%- endfor %}}"
    "{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}"
    f"{{{{ '{OPEN}\\n' if thinks else '{EMPTY}' }}}}{{%- endif %}}"
)
PLAIN = (
    "{%- for message in messages %}{%- if message['role'] == 'assistant' %}"
    "{{ 'Assistente:\\n' + message['content'] + eos_token + '\\n' }}"
    "{%- elif message['role'] == 'user' %}"
    "{{ 'Usuário:\\n' + message['content'].replace('Assistente:', 'Assistente :') + '\\n\\n' }}"
    "{%- else %}{{ message['content'] + '\\n\\n' }}{%- endif %}{%- endfor %}"
    "{%- if add_generation_prompt %}{{ 'Assistente:\\n' }}{%- endif %}"
)
KNOWN = {"chatml": CHATML, "chatml-think": PER_TASK, "plain": PLAIN}
"""`chatml`: Qwen's, without thoughts. `chatml-think`: for models whose own template always opens a thought; opens one
for the tasks of `data.thinking` and closes it at once for all others, and in earlier turns that show none. `plain`: in
words, as DeepSeek-R1-Zero was asked (2501.12948, table 1), for tokenizers without marks of a turn.
"""
LIKE_A_PROMPT = " <b>não</b> & «três» 'aspas' \"duas\"\n- R$ 1.234,50\n"
ASKED = [
    {"role": "system", "content": f"INSTRUÇÃO{LIKE_A_PROMPT * 20}fim"},
    {"role": "user", "content": f"PERGUNTA{LIKE_A_PROMPT * 200}fim"},
]
"""As long as prompts become, with what a template may escape or cut."""
ANSWER = f"RESPOSTA{LIKE_A_PROMPT * 20}fim"
THOUGHT = f"PENSAMENTO{LIKE_A_PROMPT * 20}fim"
Render = Callable[[list[dict[str, str]], bool], str]
"""The text of a chat; with True, of one whose answer is about to begin."""


def given(setting: str) -> str:
    """What `model.chat_template` stands for: a known name as it is; the text of a file, so that what a run was trained
    with is what it says later and elsewhere. ValueError for a text that is no template.
    """
    text = setting
    if setting not in KNOWN and "{{" not in setting:
        try:
            if not Path(setting).is_file():  # a pipe would be waited for
                raise FileNotFoundError(setting)
            with Path(setting).open(encoding="utf-8-sig") as file:
                text = file.read(LONGEST + 1)
        except (OSError, ValueError):
            raise ValueError(
                f"model.chat_template={setting} is no file with text, and no template that we know: {', '.join(KNOWN)}"
            ) from None
    if text not in KNOWN and not ("{{" in text and "messages" in text and len(text) <= LONGEST):
        raise ValueError(
            f"model.chat_template={setting[:99]} is no chat template: that is Jinja which writes `messages`, in at most"
            f" {LONGEST} characters"
        )
    return text


def rendering(tokenizer: "PreTrainedTokenizerBase") -> Render:
    """By the template that it has."""
    return lambda chat, opened: str(tokenizer.apply_chat_template(chat, add_generation_prompt=opened, tokenize=False))


def speaking(tokenizer: "PreTrainedTokenizerBase", template: str | None) -> "PreTrainedTokenizerBase":
    """The tokenizer with this template (None: its own), ending an answer with the mark that the template puts behind
    one. UserError where that is none of its tokens, or the template loses something.
    """
    if template is None:
        return tokenizer
    tokenizer.chat_template = _of_this(tokenizer, template)
    ends_with = behind(rendering(tokenizer))
    special = {number for number, token in tokenizer.added_tokens_decoder.items() if token.special}
    ends = [token for token in tokenizer.encode(ends_with, add_special_tokens=False) if token in special]
    if not ends:
        raise UserError(
            f"model.chat_template puts {ends_with!r} behind an answer, and this tokenizer has no special token for it,"
            " so no answer would end: choose plain, or let your template write {{ eos_token }} there"
        )
    if tokenizer.eos_token_id not in ends:
        tokenizer.eos_token = str(tokenizer.convert_ids_to_tokens(ends[0]))
    return tokenizer


def _of_this(tokenizer: "PreTrainedTokenizerBase", template: str) -> str:
    """A known template begins as the tokenizer begins a text: bases that have read no text without that token need it
    before a chat, too."""
    first = tokenizer.bos_token_id
    begins = first is not None and template in KNOWN and tokenizer.encode("a")[:1] == [first]
    return ("{{- bos_token }}" if begins else "") + KNOWN.get(template, template)


def behind(render: Render, what: str = "model.chat_template", mend: str = "mend it") -> str:
    """What stands behind an answer. UserError for a template that no run can be asked and trained with."""
    try:
        asked, opened = render(ASKED, False), render(ASKED, True)
        whole = render([*ASKED, {"role": "assistant", "content": ANSWER}], False)
    except Exception as fault:  # a template is a program of others
        if "'eos_token' is undefined" in str(fault):
            raise UserError(
                f"{what} writes eos_token behind an answer, and the tokenizer has none: name the token that ends its"
                " texts as eos_token in its tokenizer_config.json"
            ) from None
        raise UserError(f"{what} cannot be rendered ({type(fault).__name__}: {fault}); {mend}") from None
    lost = [part["role"] for part in ASKED if part["content"] not in opened]
    if lost or not whole.startswith(opened) or ANSWER not in whole:
        said = f"drops or changes the {lost[0]}'s message" if lost else "writes an answer otherwise than it opens one"
        said = said if opened.strip() else "writes nothing"
        raise UserError(f"{what} {said}: what is trained would not be what is asked; {mend}")
    if asked == opened and whole.removeprefix(opened).partition(ANSWER)[0].strip():
        raise UserError(f"{what} does not open an answer; let it heed add_generation_prompt, or {mend}")
    return whole.rpartition(ANSWER)[2]


def opens_a_thought(render: Render, can_think: bool) -> bool:
    """Whether a task that shall answer at once is asked after the mark that opens a thought. can_think: whether system
    prompts say so, as those of a run with `data.thinking` do.
    """
    system, question = ASKED
    chat = [{**system, "content": told(system["content"], False)} if can_think else system, question]
    shown = render([*chat, {"role": "assistant", "content": ANSWER}], False).partition(ANSWER)[0]
    return any(OPEN in without_an_empty_one(text) for text in (render(chat, True), shown))


def changes_a_thought(render: Render) -> bool:
    """Whether an answer after a thought is shown otherwise than a task that thinks is asked: with the mark twice, as
    where a template closes for every answer the thought that it opens; without the thought; or not behind the opening.
    """
    chat = _thinking()
    shown = render([*chat, {"role": "assistant", "content": with_thought(THOUGHT, ANSWER)}], False)
    marks = shown.count(OPEN) - render(chat, False).count(OPEN)
    return marks != 1 or THOUGHT not in shown or not shown.startswith(render(chat, True))


def closes_a_thought(render: Render) -> bool:
    """Whether a task that shall think is asked behind a thought that is closed already."""
    chat = _thinking()
    return CLOSE in render(chat, True).removeprefix(render(chat, False))


def _thinking() -> list[dict[str, str]]:
    system, question = ASKED
    return [{**system, "content": told(system["content"], True)}, question]


def lost_marks(tokenizer: "PreTrainedTokenizerBase") -> list[str]:
    """The marks of a thought that are no token each, or one that decoding leaves out: none could be counted or taken
    off.
    """
    known = {mark: tokenizer.encode(mark, add_special_tokens=False) for mark in (OPEN, CLOSE)}
    return [
        mark for mark, ids in known.items() if len(ids) != 1 or tokenizer.decode(ids, skip_special_tokens=True) != mark
    ]
