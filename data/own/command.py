"""`tucano data`: check, export, fetch, make, feedback."""

import argparse
import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from tucano.errors import UserError

if TYPE_CHECKING:
    from data.own.feedback import Learned
    from data.own.making import Made
    from data.own.prompts import OwnPrompts

FINE, SOME_BAD, NONE_USABLE = 0, 1, 2


def add_arguments(command: argparse.ArgumentParser) -> None:
    actions = command.add_subparsers(dest="action", required=True, metavar="ACTION")
    text = "say row by row what is wrong with a file of prompts; exit code 0: nothing, 1: some rows, 2: all"
    check = actions.add_parser("check", help=text, description=text)
    check.add_argument("place", type=Path, metavar="FILE", help="JSONL, CSV or Parquet file, or a folder of them")
    text = "write the prompts of a run, or of a prompt set's folder, as a file that `data.source=jsonl` reads"
    export = actions.add_parser("export", help=text, description=text)
    export.add_argument("place", type=Path, metavar="FOLDER", help="storage of a run, like runs; or a prompt set")
    export.add_argument("file", type=Path, metavar="FILE", help="a new file, like prompts.jsonl")
    text = "write a data set of the Hugging Face hub, at one commit, as a file that `data.source=jsonl` reads"
    fetch = actions.add_parser("fetch", help=text, description=text)
    fetch.add_argument("pinned", metavar="OWNER/NAME@COMMIT", help="its name and the 40 digits of a commit")
    fetch.add_argument("file", type=Path, metavar="FILE", help="a new file, like prompts.jsonl")
    fetch.add_argument("--split", default="train", help="which of its splits (default: train)")
    fetch.add_argument("--config", metavar="NAME", help="which of its configurations, where it has several")
    fetch.add_argument("--task", help="that of rows that name none, like push; without it a chat is general")
    fetch.add_argument("--licence", help="that of rows that name none; it stands with a model")
    text = "let a model behind a chat API answer a run's training prompts, and write what reward and truth call good"
    _add_make_arguments(actions.add_parser("make", help=text, description=text))
    text = "write what people corrected and chose (tucano rate) as demonstrations and as preference pairs"
    feedback = actions.add_parser("feedback", help=text, description=text)
    feedback.add_argument(
        "folder", type=Path, metavar="FOLDER", help="a rating folder, like fixes; both files go there"
    )
    feedback.add_argument(
        "--storage", type=Path, default=Path("runs"), help="runs whose test prompts are left out (default: runs)"
    )


def _add_make_arguments(make: argparse.ArgumentParser) -> None:
    make.add_argument("place", type=Path, metavar="FOLDER", help="storage of a run, like runs; or a prompt set")
    make.add_argument("file", type=Path, metavar="FILE", help="a new file, like made.jsonl; replies lie beside it")
    make.add_argument(
        "--endpoint", required=True, metavar="URL", help="like https://api.openai.com/v1, or tucano serve's with /v1"
    )
    what = "the name by which the API knows it, like gpt-4o-mini; tucano serve's is tucano"
    make.add_argument("--model", required=True, help=what)
    make.add_argument("--licence", required=True, help="under which its answers may be used; it stands with a model")
    make.add_argument("--key-env", metavar="NAME", help="environment variable that holds the API's key")
    make.add_argument("--task", help="ask prompts of this task alone, like push")
    make.add_argument("--count", type=int, default=500, help="prompts to ask (default: %(default)s)")
    make.add_argument("--samples", type=int, default=4, help="answers to each (default: %(default)s)")
    make.add_argument("--least", type=float, default=0.8, help="reward and truth of a kept one (default: %(default)s)")
    what = "longest answer (default: %(default)s); of a served champion, at most its grpo.max_completion_tokens"
    make.add_argument("--tokens", type=int, default=512, help=what)
    make.add_argument("--dollars", type=float, nargs=2, default=(0.0, 0.0), metavar=("IN", "OUT"), help="per million")
    make.add_argument("--allow-external", action="store_true", help="let prompts leave this machine")


def main(arguments: argparse.Namespace) -> int:
    """Its exit code. Raises `UserError` for what cannot be read or written."""
    if arguments.action == "check":
        return check(arguments.place)
    if arguments.action == "make":
        return make(arguments)
    if arguments.action == "feedback":
        return feedback(arguments.folder, arguments.storage)
    from data.own.export import prompts_of, row_of, write_lines

    if arguments.action == "fetch":
        from data.own.hub import hub_rows

        _require_task(arguments.task, "general")

        more = {name: value for name in ("task", "licence") if (value := getattr(arguments, name))}
        count = write_lines(arguments.file, hub_rows(arguments.pinned, more, arguments.split, arguments.config))
    else:
        count = write_lines(arguments.file, map(row_of, prompts_of(arguments.place)))
    again = shlex.quote(str(arguments.file))
    print(f"{count} prompts written to {arguments.file}; look at them: tucano data check {again}")
    return FINE


def _require_task(task: str | None, *more: str) -> None:
    from tucano.prompts import TASKS

    if task not in (None, *TASKS, *more):
        raise UserError(f"--task {task} is none of {', '.join((*TASKS, *more))}")


def check(place: Path) -> int:
    """Prints what is in a file and says what to do next."""
    from data.own.prompts import read_own

    found = read_own(place)
    code = NONE_USABLE if not found.usable else SOME_BAD if found.bad.counts else FINE
    print("\n".join(_lines(found, place, code)))
    return code


def feedback(folder: Path, storage: Path) -> int:
    """Writes both files, and says what was left out and what to do next."""
    from data.own.feedback import learn, write_learned

    found = learn(folder, storage)
    write_learned(folder, found)
    print("\n".join(_taught(found, folder)))
    return NONE_USABLE if not found.pairs else SOME_BAD if found.left_out else FINE


def make(arguments: argparse.Namespace) -> int:
    """Asks, writes what is good enough, and says what it took."""
    from data.own import making
    from data.own.export import prompt_set, require_new, row_of, write_lines
    from data.own.rows import LONGEST_NAME
    from tucano.files.prompts import PromptFiles
    from tucano.profiles import validated

    _require_task(arguments.task)
    if min(arguments.count, arguments.samples, arguments.tokens) < 1 or not 0 <= arguments.least <= 1:
        raise UserError("--count, --samples and --tokens are at least 1, and --least is from 0 to 1")
    if not (arguments.licence.strip() and arguments.licence.isprintable() and len(arguments.licence) <= LONGEST_NAME):
        raise UserError(f"--licence is one line of at most {LONGEST_NAME} characters, like CC-BY-4.0")
    require_new(arguments.file)
    named = {"url": arguments.endpoint, "model": arguments.model, "key_env": arguments.key_env}
    prices = dict(zip(("dollars_in", "dollars_out"), arguments.dollars, strict=True))
    endpoint = validated({"benchmark": {"endpoints": [{"name": "made", **named, **prices}]}}).benchmark.endpoints[0]
    chosen = (arguments.task, arguments.count, arguments.samples, arguments.least, arguments.tokens, arguments.licence)
    wanted = making.Wanted(endpoint, *chosen, arguments.allow_external)
    kept = arguments.file.with_name(f"{arguments.file.stem}.replies")
    if kept.exists() and not kept.is_dir():
        raise UserError(f"{kept} is no folder, and replies are kept there; name another file of rows, or move it")
    made = making.make(PromptFiles(prompt_set(arguments.place)), wanted, kept)
    if made.prompts:
        write_lines(arguments.file, map(row_of, made.prompts))
    print("\n".join(_made(made, arguments.file, any(arguments.dollars))))
    return FINE if made.prompts else NONE_USABLE


def _made(made: "Made", file: Path, priced: bool) -> Iterator[str]:
    from data.own.making import CUT

    yield f"{len(made.prompts)} demonstrations of {len(made.prompts) + made.left_out.total()} prompts"
    yield from (f"  left out, {why}: {count}" for why, count in made.left_out.most_common())
    for task, (passed, drawn) in made.passed.items():
        yield f"  {task}: {passed} of {drawn} answers are good enough"
    told = made.bill
    dollars = f"USD {told.dollars:.4f}{' at least' * bool(made.uncounted)}" if told.dollars else "dollars unknown"
    yield (
        f"{told.answers} answers, {told.failed} without one; {told.tokens_in} tokens in, {told.tokens_out} out"
        f"{f', {dollars}' if priced else ''}; {told.median_s:.1f} s each in the median"
    )
    if made.uncounted:
        yield f"{made.uncounted} answers came without numbers of tokens, which are not in these sums."
    if made.prompts:
        yield f"Look at them: tucano data check {shlex.quote(str(file))}"
    elif set(made.left_out) == {CUT}:
        yield "Nothing was written: every answer was cut; raise --tokens."
    else:
        yield "Nothing was written; lower --least, raise --samples, or ask another model."


def _taught(found: "Learned", folder: Path) -> Iterator[str]:
    from data.own.feedback import DEMONSTRATIONS, PREFERENCES

    yield f"{folder}: {len(found.demonstrations)} demonstrations, {len(found.pairs)} preference pairs"
    if found.left_out:
        why = ", ".join(f"{reason}: {count}" for reason, count in found.left_out.most_common())
        yield f"{found.left_out.total()} left out ({why})"
    if found.demonstrations:
        place = str(folder / DEMONSTRATIONS)
        yield f"Look at them     tucano data check {shlex.quote(place)}"
        path = json.dumps(place, ensure_ascii=False)
        sources = f"[{{source: synthetic, share: 0.9}}, {{source: jsonl, path: {path}, share: 0.1}}]"
        yield f"Train with them  tucano run laptop --set {shlex.quote(f'data.sources={sources}')}"
    if found.pairs:
        yield f"Preferences      {folder / PREFERENCES}, as TRL's DPOTrainer reads them"
    else:
        yield "Next             rate with --consent, prompts that no test set has; docs/rating.md says how"


def _lines(found: "OwnPrompts", place: Path, code: int) -> Iterator[str]:
    from data.own.prompts import per_task
    from data.reading.files import conversion
    from data.sources.own import FEWEST_GROUPS

    usable = found.usable
    yield f"{place}: {found.rows} rows, {len(usable)} usable" + (f" ({per_task(usable)})" if usable else "")
    if found.bad.counts:
        yield f"{found.bad.counts.total()} rows are not used:"
        yield from found.bad.lines()
    if 2 * found.not_utf8 > found.bad.counts.total():
        yield f"Most of these are not UTF-8; convert the file, for example with `{conversion(place)}`"
    if found.notes.counts:
        yield "of the usable rows:"
        yield from found.notes.lines()
    if any("sql" in prompt.reference for prompt in found.prompts):
        yield "Gold queries are tried on the run's store; the run names those that it leaves out."
    if code == NONE_USABLE:
        yield "Next: mend the rows; docs/data.md has the fields with an example."
        return
    few, enough = _by_groups(found)
    if not (enough or found.general):
        groups = f"{FEWEST_GROUPS} groups of templates of each task, and here are {', '.join(few)}"
        yield f"Next: add prompts told otherwise; a run needs {groups}."
        return
    yield "Next:" if code == FINE else "Next: mend these rows, or go on without them:"
    if few:
        yield f"  (without {', '.join(few)}: a run needs {FEWEST_GROUPS} groups of templates of each task)"
    if enough:
        path = shlex.quote(f"data.path={place}")
        yield f"  tucano run laptop --set data.source=jsonl --set {path} --set 'data.mix={_mix(enough)}'"
    if found.general:
        path = shlex.quote(f"data.general.path={place}")
        yield f"  tucano run laptop --set data.general.share=0.1 --set {path}"


def _by_groups(found: "OwnPrompts") -> tuple[list[str], dict[str, int]]:
    """Tasks with fewer groups of templates than a run needs, with their number; and the prompts of each other one."""
    from data.sources.own import FEWEST_GROUPS, groups_of

    few: list[str] = []
    enough: dict[str, int] = {}
    for task in sorted({prompt.task for prompt in found.prompts}):
        prompts = [prompt for prompt in found.prompts if prompt.task == task]
        groups = len(groups_of(prompts))
        if groups < FEWEST_GROUPS:
            few.append(f"{task} with {groups}")
        else:
            enough[task] = len(prompts)
    return few, enough


def _mix(counts: dict[str, int]) -> str:
    """The tasks' shares among the usable rows, as a setting."""
    shares = {task: round(count / sum(counts.values()), 2) for task, count in counts.items()}
    largest = max(shares, key=lambda task: shares[task])
    shares[largest] = round(shares[largest] + 1 - sum(shares.values()), 2)
    return "{" + ", ".join(f"{task}: {share:g}" for task, share in shares.items()) + "}"
