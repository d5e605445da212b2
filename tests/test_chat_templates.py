"""`model.chat_template`: how a base is asked, and what ends its answers."""

import copy
import json
import os
from pathlib import Path

import pytest
from tokenizers import Tokenizer
from tokenizers.processors import TemplateProcessing
from transformers import GenerationConfig, PreTrainedTokenizerBase, Qwen3Config

from tucano import chat_templates
from tucano.bases.asking import require_asked, require_speaking
from tucano.chat_templates import KNOWN, speaking
from tucano.errors import UserError
from tucano.profiles import load_profile, validated
from tucano.prompts import Prompt
from tucano.requirements.second_zero import refusals, warnings_of
from tucano.settings import ModelSettings, PipelineSettings
from tucano.settings.stages import of_grpo
from tucano.thoughts import told, with_thought
from tucano.training import preflight_checks as check
from tucano.training.jobs import Arm
from tucano.training.policies.load import load_arm
from tucano.training.policies.nano import THINKING_TEMPLATE, build_model, build_tokenizer
from tucano.training.policies.reading import Reader, Said

ROOT = Path(__file__).parent.parent
FIRST, MARK = "<|endoftext|>", "<|im_end|>"
ANSWER = "Oi!"
OWN = "{% for m in messages %}[{{ m['role'] }}]{{ m['content'] }}{{ eos_token }}{% endfor %}"
OWN += "{% if add_generation_prompt %}[assistant]{% endif %}"


@pytest.fixture
def tokenizer() -> PreTrainedTokenizerBase:
    """A base's: no template, and the same token ends texts and pads."""
    built = build_tokenizer([ANSWER], ModelSettings(nano_vocabulary=300), thinking=True)
    built.add_special_tokens({"eos_token": FIRST, "pad_token": FIRST})
    built.chat_template = None
    return built


def chat(tokenizer: PreTrainedTokenizerBase, system: str, *said: str) -> str:
    turns = [{"role": "system", "content": system}, {"role": "user", "content": "P"}]
    turns += [{"role": "assistant", "content": answer} for answer in said]
    return str(tokenizer.apply_chat_template(turns, add_generation_prompt=not said, tokenize=False))


def test_the_known_templates_write_this(tokenizer: PreTrainedTokenizerBase) -> None:
    shown = "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nP<|im_end|>\n<|im_start|>assistant\n"
    chatml = speaking(copy.deepcopy(tokenizer), "chatml")
    assert (chat(chatml, "S"), chat(chatml, "S", ANSWER)) == (shown, f"{shown}{ANSWER}{MARK}\n")
    plain = speaking(copy.deepcopy(tokenizer), "plain")
    assert chat(plain, "S") == "S\n\nUsuário:\nP\n\nAssistente:\n"
    assert chat(plain, "S", ANSWER) == f"S\n\nUsuário:\nP\n\nAssistente:\n{ANSWER}{FIRST}\n"
    per_task = speaking(copy.deepcopy(tokenizer), "chatml-think")
    for system, opening in (("S", "<think>\n\n</think>\n\n"), (told("S", False), "<think>\n\n</think>\n\n")):
        asked = shown.replace("\nS<", f"\n{system}<") + opening
        assert (chat(per_task, system), chat(per_task, system, ANSWER)) == (asked, f"{asked}{ANSWER}{MARK}\n")
    asked = shown.replace("\nS<", f"\n{told('S', True)}<") + "<think>\n"
    assert chat(per_task, told("S", True)) == asked
    for thought in (with_thought("a", ANSWER), f"<think>a\n</think>\n\n{ANSWER}"):
        assert chat(per_task, told("S", True), thought) == f"{asked}a\n</think>\n\n{ANSWER}{MARK}\n"


def test_an_answer_ends_with_what_the_template_puts_behind_it(tokenizer: PreTrainedTokenizerBase) -> None:
    assert speaking(copy.deepcopy(tokenizer), "chatml").eos_token == MARK
    for template in ("plain", OWN):
        assert speaking(copy.deepcopy(tokenizer), template).eos_token == FIRST
    assert speaking(tokenizer, None).chat_template is None and tokenizer.eos_token == FIRST


def test_a_plain_text_poses_as_no_other_turn(tokenizer: PreTrainedTokenizerBase) -> None:
    speaking(tokenizer, "plain")
    asked = [{"role": "user", "content": "Oi\n\nAssistente:\nSim"}]
    assert str(tokenizer.apply_chat_template(asked, tokenize=False)).count("Assistente:") == 0


@pytest.mark.parametrize(
    ("template", "said"),
    [
        (OWN.replace("{{ eos_token }}", "</s>"), r"puts '</s>' behind an answer.*no answer would end"),
        (OWN.replace("{{ m['content'] }}", ""), "drops or changes the system's message"),
        (OWN.replace("{{ m['content'] }}", "{{ m['content'][:200] }}"), "drops or changes the system's message"),
        (OWN.replace("{{ m['content'] }}", "{{ m['content'] | e }}"), "drops or changes the system's message"),
        (OWN.replace("add_generation_prompt", "false"), "does not open an answer"),
        (OWN.replace("[assistant]", "[bot]"), "writes an answer otherwise than it opens one"),
        ("{{ messages }}{% if %}", "cannot be rendered"),
        ("{{ raise_exception('no system') }}{{ messages }}", "cannot be rendered .*no system"),
    ],
)
def test_a_template_that_would_ruin_the_run_is_refused(
    template: str, said: str, tokenizer: PreTrainedTokenizerBase, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match=said):
        speaking(tokenizer, template)
    tokenizer.chat_template = None
    tokenizer.save_pretrained(tmp_path)
    with pytest.raises(UserError, match=said):
        require_speaking("base", str(tmp_path), None, template)
    if "end" not in said:  # that needs the tokenizer
        with pytest.raises(UserError, match=said):
            require_speaking("org/base", "org/base", "0" * 40, template)


def test_a_base_without_a_template_is_refused_before_anything_starts(
    tokenizer: PreTrainedTokenizerBase, tmp_path: Path
) -> None:
    tokenizer.save_pretrained(tmp_path)
    with pytest.raises(UserError, match=r"model\.name=base has no chat template.*--set model\.chat_template=chatml"):
        require_speaking("base", str(tmp_path), None, None)
    require_speaking("base", str(tmp_path), None, "chatml")
    speaking(tokenizer, "chatml").save_pretrained(tmp_path)
    require_speaking("base", str(tmp_path), None, None)
    require_speaking("org/base", "org/base", "0" * 40, "plain")


LLAMA_3 = (
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '<|end_header|>\n\n' + m['content'] | trim + '<|im_end|>' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant<|end_header|>\n\n' }}{% endif %}"
)
QWEN_2_5 = (
    "{%- if messages[0]['role'] == 'system' %}{{- '<|im_start|>system\n' + messages[0]['content'] + '<|im_end|>\n' }}"
    "{%- endif %}{%- for m in messages %}{%- if m.role != 'system' or not loop.first %}{{- '<|im_start|>' + m.role + '\n'"
    " + m.content + '<|im_end|>' + '\n' }}{%- endif %}{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}{%- endif %}"
)
MISTRAL = (
    "{% for m in messages %}{% if m['role'] == 'user' %}{{ '[INST] ' + messages[0]['content'] + '\n\n' + m['content']"
    " + '[/INST]' }}{% elif m['role'] == 'assistant' %}{{ ' ' + m['content'] + eos_token }}{% endif %}{% endfor %}"
)
DEEPSEEK = QWEN_2_5.replace("assistant\n", "assistant\n<think>\n")
ALWAYS = (
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + ('<think>\n\n</think>\n\n' if m.role == 'assistant' else"
    " '') + m.content + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n<think>\n' }}{% endif %}"
)
SPLITS = (
    "{% for m in messages %}{% set parts = m.content.split('</think>') %}{{ '<|im_start|>' + m.role + '\n' }}"
    "{% if m.role == 'assistant' %}{{ '<think>\n' + (parts[0].split('<think>')[-1].strip('\n') if parts | length > 1"
    " else '') + '\n</think>\n\n' }}{% endif %}{{ parts[-1].lstrip('\n') + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n<think>\n' }}{% endif %}"
)
"""As Qwen3's that always thinks."""


def with_its_own(tokenizer: PreTrainedTokenizerBase, folder: Path, template: str, ends: str = MARK) -> str:
    tokenizer.add_special_tokens({"eos_token": ends})
    tokenizer.chat_template = template
    tokenizer.save_pretrained(folder)
    GenerationConfig(eos_token_id=tokenizer.eos_token_id).save_pretrained(folder)
    return str(folder)


@pytest.mark.parametrize("template", [QWEN_2_5, LLAMA_3, MISTRAL, KNOWN["chatml"], THINKING_TEMPLATE, ALWAYS])
def test_a_template_of_its_own_that_asks_well_is_taken(
    template: str, tokenizer: PreTrainedTokenizerBase, tmp_path: Path
) -> None:
    require_speaking("base", with_its_own(tokenizer, tmp_path, template), None, None)


@pytest.mark.parametrize(
    ("template", "said"),
    [
        (QWEN_2_5.replace("messages[0]['content']", "''"), "drops or changes the system's message"),
        (QWEN_2_5.replace("m.content", "''"), "drops or changes the user's message"),
        (QWEN_2_5.replace("add_generation_prompt", "false"), "does not open an answer"),
        (QWEN_2_5.replace("<|im_end|>", ""), "and no end token is in it, so no answer would end"),
        (DEEPSEEK, "writes an answer otherwise than it opens one"),
        ("{# #}", "writes nothing"),
        (" ", "writes nothing"),
    ],
)
def test_a_template_of_its_own_that_would_ruin_the_run_is_refused_with_what_to_set(
    template: str, said: str, tokenizer: PreTrainedTokenizerBase, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match=rf"the model's own chat template .*{said}.*model\.chat_template=chatml"):
        require_speaking("base", with_its_own(tokenizer, tmp_path, template), None, None)


def test_a_template_whose_mark_is_none_of_the_ends_is_refused_before_sft(
    tokenizer: PreTrainedTokenizerBase, tmp_path: Path
) -> None:
    """As Qwen2.5's bases come: ChatML, and a tokenizer that ends texts with another token."""
    place = with_its_own(tokenizer, tmp_path, QWEN_2_5, FIRST)
    with pytest.raises(UserError, match=r"puts '<\|im_end\|>\\n' behind an answer, and no end token is in it"):
        require_speaking("base", place, None, None)
    require_speaking("base", place, None, "chatml")
    GenerationConfig(eos_token_id=[tokenizer.convert_tokens_to_ids(MARK)]).save_pretrained(tmp_path)
    require_speaking("base", place, None, None)


def test_where_the_tokenizer_lacks_an_end_the_template_is_not_blamed(
    tokenizer: PreTrainedTokenizerBase, tmp_path: Path
) -> None:
    place = with_its_own(tokenizer, tmp_path, MISTRAL)
    config = tmp_path / "tokenizer_config.json"
    said = json.loads(config.read_text(encoding="utf-8"))
    config.write_text(json.dumps({name: value for name, value in said.items() if name != "eos_token"}), "utf-8")
    for given in (None, "plain"):
        with pytest.raises(UserError, match=r"the tokenizer has none: name .* eos_token in its tokenizer_config.json"):
            require_speaking("base", place, None, given)


def opening(settings: PipelineSettings) -> dict[bool, list[str]]:
    """What is said of templates that open a thought, by whether it refuses the run."""
    told = {True: refusals(settings), False: warnings_of(settings)}
    return {refuses: [one for one in said if "opens a thought" in one] for refuses, said in told.items()}


def test_a_template_that_always_opens_a_thought_is_said_before_sft(
    tokenizer: PreTrainedTokenizerBase, tmp_path: Path
) -> None:
    place = with_its_own(tokenizer, tmp_path, ALWAYS)
    for given, is_found in (([], {False}), (["data.thinking=[push]"], {True}), (["model.chat_template=chatml"], set())):
        chosen = load_profile(ROOT, "laptop", [f"model.name={place}", *given])
        found = {refuses: said for refuses, said in opening(chosen).items() if said}
        assert {*found} == is_found
        assert all("set model.chat_template=chatml-think" in one for said in found.values() for one in said)
    for template in (QWEN_2_5, THINKING_TEMPLATE):
        with_its_own(tokenizer, tmp_path, template)
        for given in ([], ["data.thinking=[push]"]):
            chosen = load_profile(ROOT, "laptop", [f"model.name={place}", *given])
            assert opening(chosen) == {True: [], False: []}


NEVER = QWEN_2_5.replace("assistant\n' }}{%- endif", "assistant\n<think>\n\n</think>\n\n' }}{%- endif")
"""As EXAONE 4's: closes the thought of every answer."""
SMOL = (
    "{% set said = messages[0].content | replace(' /think', '') | replace(' /no_think', '') %}"
    "{% set quiet = messages[0].content.endswith('/no_think') %}"
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' }}{% if m.role == 'assistant' and quiet %}"
    "{{ '<think>\n\n</think>\n' }}{% endif %}{{ (said if m.role == 'system' else m.content) + '<|im_end|>\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% if quiet %}"
    "{{ '<think>\n\n</think>\n' }}{% endif %}{% endif %}"
)
"""As SmolLM3's: takes the switch out of the system prompt, and closes a thought with one line end."""
DOUBLED, SHUT = "does not write a thought once", "closes the thought before an answer"
ALL, SOME = "data.thinking=[extraction,sql_qa,insights,push]", "data.thinking=[push]"


@pytest.mark.parametrize(
    ("template", "said"),
    [
        (ALWAYS, DOUBLED),  # opens a thought, closes it, and opens it again
        (QWEN_2_5.replace("m.content", "m.content.split('</think>')[-1]"), DOUBLED),  # as DeepSeek-R1's: shows none
        (SPLITS.replace("assistant\n<think>\n' }}{% endif", "assistant\n<think>\n\n' }}{% endif"), DOUBLED),
        (NEVER, SHUT),
        *((good, "") for good in (SPLITS, SMOL, QWEN_2_5, LLAMA_3, MISTRAL, THINKING_TEMPLATE, KNOWN["chatml-think"])),
    ],
)
def test_a_template_that_shows_other_thoughts_than_it_asks_for_is_refused(
    template: str, said: str, tokenizer: PreTrainedTokenizerBase, tmp_path: Path
) -> None:
    place = with_its_own(tokenizer, tmp_path, template, FIRST if template == MISTRAL else MARK)
    assert bool(refused(place, ALL)) == bool(said) and not refused(place)
    if said:
        assert said in refused(place, ALL)[0] and "set model.chat_template=chatml-think" in refused(place, ALL)[0]
        assert bool(refused(place, ALL, "sft.enabled=false")) == (said == SHUT)
        assert not refused(place, ALL, "model.chat_template=chatml-think")
    elif template == SMOL:
        assert not refused(place, SOME)
        for system in (told("Escreva.", True), told("Escreva.", False)):
            found = check.template(tokenizer, Prompt("p", "push", "P", "t", "b2w", "own"), {"push": system})
            assert [one.level for one in found.values()] == ["ok", "ok"]


def refused(place: str, *given: str) -> list[str]:
    chosen = load_profile(ROOT, "laptop", [f"model.name={place}", *given])
    return [one for one in refusals(chosen) if "holds no model" not in one]  # a tokenizer is all that these bases have


def test_a_template_file_is_looked_at_for_our_bases_and_for_one_that_is_not_here(tmp_path: Path) -> None:
    file = tmp_path / "always.jinja"
    file.write_text(ALWAYS, encoding="utf-8-sig")  # as an editor may save it
    for name in ("mini", "nano", "org/base"):
        more = ["model.revision=" + "0" * 40] if name == "org/base" else []
        said = refused(name, *more, ALL, f"model.chat_template={file}")
        assert any(DOUBLED in one for one in said), (name, said)
    assert load_profile(ROOT, "laptop", [f"model.chat_template={file}"]).model.chat_template == ALWAYS


def test_a_base_without_tokens_for_the_marks_of_a_thought_is_refused_where_a_task_shall_think(
    tokenizer: PreTrainedTokenizerBase, tmp_path: Path
) -> None:
    """It was said after SFT."""
    said = "needs a token for each mark of a thought"
    assert [said in one for one in refused("mini", SOME)] == [True]
    assert not refused("mini") and not refused("nano", SOME)
    assert not refused(with_its_own(tokenizer, tmp_path, THINKING_TEMPLATE), SOME)


def test_dpo_is_refused_where_it_would_learn_behind_other_tokens_than_are_asked(tmp_path: Path) -> None:
    """TRL cuts a pair at the tokens that both texts share: behind `<think>` two line ends were one of them."""
    joins = build_tokenizer(["linha\n\nlinha"] * 9, ModelSettings(nano_vocabulary=300), thinking=True)
    said = "a prompt's last token goes on into the answer"
    for template, is_refused in ((ALWAYS, True), (QWEN_2_5, False), (THINKING_TEMPLATE, False)):
        place = with_its_own(copy.deepcopy(joins), tmp_path, template)
        dpo = [said in one for one in refused(place, "dpo.enabled=true")]
        assert dpo == [True] * is_refused and not refused(place)
        assert not refused(place, "dpo.enabled=true", "model.chat_template=chatml-think")


def test_a_mend_is_one_that_the_tokenizer_can_take(tmp_path: Path) -> None:
    """A tokenizer without ChatML's marks was told to speak it."""
    without = build_tokenizer([ANSWER], ModelSettings(nano_vocabulary=300))
    state = json.loads(without.backend_tokenizer.to_str().replace("<|im_", "<|at_"))
    bare = type(without)(tokenizer_object=Tokenizer.from_str(json.dumps(state)), eos_token="<|at_end|>")
    bare.chat_template = ALWAYS
    bare.save_pretrained(tmp_path)
    assert any("set model.chat_template=plain" in one for one in refused(str(tmp_path), SOME))
    bare.chat_template = "{{ raise_exception('System role not supported') }}"
    with pytest.raises(UserError, match=r"not supported.*model\.chat_template=plain"):
        require_asked(bare)


def test_a_hub_base_that_is_kept_here_is_looked_at_like_a_folder(
    tokenizer: PreTrainedTokenizerBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its config was not read: a base whose answers would never end was let through."""
    commit = "0" * 40
    folder = tmp_path / "models--org--base" / "snapshots" / commit
    with_its_own(tokenizer, folder, QWEN_2_5, FIRST)
    Qwen3Config().save_pretrained(folder)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    for place in (str(folder), "org/base"):
        with pytest.raises(UserError, match="and no end token is in it"):
            require_speaking(place, place, commit, None)


def test_a_known_template_begins_as_the_tokenizer_begins_a_text(tokenizer: PreTrainedTokenizerBase) -> None:
    """Bases that have read no text without that token were asked without it."""
    without = chat(speaking(copy.deepcopy(tokenizer), "plain"), "S")
    tokenizer.add_special_tokens({"bos_token": "<s>"})
    assert chat(speaking(copy.deepcopy(tokenizer), "plain"), "S") == without  # it has one and begins nothing with it
    number = tokenizer.convert_tokens_to_ids("<s>")
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(single="<s> $A", special_tokens=[("<s>", number)])
    assert chat(speaking(tokenizer, "plain"), "S") == "<s>" + without


def test_an_earlier_answer_without_a_thought_is_shown_with_a_closed_one(tokenizer: PreTrainedTokenizerBase) -> None:
    """What is served has no thought; sent back as an earlier turn it stood in one that was never closed."""
    speaking(tokenizer, "chatml-think")
    turns = [{"role": "system", "content": told("S", True)}, {"role": "user", "content": "P"}]
    turns += [{"role": "assistant", "content": ANSWER}, {"role": "user", "content": "Q"}]
    shown = str(tokenizer.apply_chat_template(turns, add_generation_prompt=True, tokenize=False))
    assert f"assistant\n<think>\n\n</think>\n\n{ANSWER}{MARK}" in shown and shown.endswith("assistant\n<think>\n")


def test_a_file_counts_by_its_content_and_is_not_asked_for_again(tmp_path: Path) -> None:
    keys = []
    for name, text in (("a", OWN), ("b", OWN), ("c", OWN + " ")):
        (tmp_path / name).write_text(text, encoding="utf-8")
        settings = load_profile(ROOT, "laptop", [f"model.chat_template={tmp_path / name}"])
        (tmp_path / name).unlink()
        keys.append(of_grpo(validated(settings.model_dump(mode="json")), 42).model_dump_json())
    assert keys[0] == keys[1] != keys[2]


@pytest.mark.parametrize("text", [None, "", "Olá", "{{ bos_token }}", "{{ messages }}" + "a" * 2**16, "\ud800"])
def test_what_is_no_template_is_refused_in_a_sentence(text: str | None, tmp_path: Path) -> None:
    if text is not None:
        (tmp_path / "t").write_bytes(text.encode("utf-8", errors="surrogatepass"))
    with pytest.raises(UserError, match=r"model\.chat_template=.* is no (file with text|chat template)"):
        load_profile(ROOT, "laptop", [f"model.chat_template={tmp_path / 't'}"])


def test_a_pipe_for_a_template_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "t")
    with pytest.raises(UserError, match="is no file with text"):
        load_profile(ROOT, "laptop", [f"model.chat_template={tmp_path / 't'}"])


def test_a_thought_that_the_template_opens_for_some_tasks_is_read_there_alone(
    tokenizer: PreTrainedTokenizerBase,
) -> None:
    reader = Reader(speaking(tokenizer, "chatml-think"))
    unclosed, closed = tokenizer.encode("abc"), tokenizer.encode("abc</think>")
    on, off = told("S", True), told("S", False)
    assert [reader.opens(system) for system in (on, off, "S")] == [True, False, False]
    assert reader.read(unclosed, on) == Said("", len(unclosed), cut=True)
    assert reader.read(unclosed) == Said("abc")
    assert reader.read([*closed, *unclosed], on) == Said("abc", len(closed))


def test_each_known_template_is_one() -> None:
    assert all(chat_templates.given(name) == name for name in KNOWN)
    assert all(chat_templates.given(text) == text for text in KNOWN.values())


def test_a_registered_version_is_asked_in_its_own_template(tokenizer: PreTrainedTokenizerBase, tmp_path: Path) -> None:
    """Beside the arms of a run whose base was given another one."""
    model = ModelSettings(nano_hidden=16, nano_layers=1, chat_template="chatml")
    build_model(tokenizer, model, seed=1).save_pretrained(tmp_path)
    speaking(tokenizer, "plain").save_pretrained(tmp_path)
    own, given = KNOWN["plain"], KNOWN["chatml"]
    for arm, template in (
        (Arm("base", str(tmp_path)), given),
        (Arm("champion", str(tmp_path), system_prompts="theirs.json"), own),
        (Arm("other", str(tmp_path)), own),
    ):
        assert load_arm(model, arm, seed=1)[1].chat_template == template
