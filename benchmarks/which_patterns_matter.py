"""What of the rewards can go: each function, pattern, condition, factor and branch of a pattern is taken away in turn,
and every text that it could change is scored again.

    python -m benchmarks.which_patterns_matter push --budget 0.4 > push.md

Texts: all rated answers, the attackers' texts that tests hold, and the audit's relations. A part that moves no text the
wrong way by more than .01 can go; `--budget` lets one go that harms little for its length (harm a thousand characters).
What went stays away while the next is tried, so that of two parts which catch the same text one stays. The table begins
with the longest part.
"""

import argparse
import json
import lzma
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.source_parts import ROOT, STATE, Noted, Part, branches, install

install()

from rewards import load_reward_set  # noqa: E402
from tucano.audit.relations.table import stores  # noqa: E402
from tucano.project import COMMITTED_RATINGS  # noqa: E402
from tucano.statistics.inference import spearman  # noqa: E402

MOVED, MOST_TRIED = 0.01, 400
"""The least change that counts; of a part that more texts met, so many are tried, and it goes if none changes."""
MOST_NOTED_ANEW = 60
OF_A_KIND, EVERY = 3, 2
"""Pairs of a kind of relation that are asked, and the share of the answers of older sets."""
POINT = 0.25 / 3
"""What losing a point of the guide's scale must cost (tucano/audit/relations/worse.py)."""
OF_RELATION, OF_JUDGED = 1.0, 0.35
"""Harm of a text that moves by 1 the wrong way, where a rated one has 1: relations say the same of many prompts."""
LOW, HIGH, MISSED = 0.3, 0.6, 0.3
MOST_RHO_LOST = 0.006
MOST_MISSED = 0.105
"""Share of the bad and of the good texts that may be missed; tests allow a little more."""
SHORTEST = 8
"""Characters of a branch that is worth a try."""
RATED = ("data/rated.jsonl.xz", "data/tones.jsonl.xz", "data/ratings/ratings.jsonl", "data/ratings/cases.jsonl")
HELD_OUT = ("18", "19")


@dataclass(frozen=True)
class Asked:
    task: str
    user: str
    stars: int | None
    reference: dict[str, Any]


@dataclass
class Text:
    """An answer and what is known of it: the ratings by their set, whether it deserves little (`bad`) or much (`good`),
    what it may not fall below or exceed."""

    prompt: Asked
    answer: str
    ratings: list[tuple[str, float]] = field(default_factory=list)
    bad: bool = False
    good: bool = False
    floor: float = 0.0
    ceiling: float = 1.0
    met: frozenset[int] = frozenset()

    def misses(self, score: float, tones: bool) -> float:
        """How far a score is from the ratings of the own shop's answers, or of other shops'."""
        told = [rating for name, rating in self.ratings if (name == "tones") == tones]
        return sum(abs(score - (rating - 1) / 4) for rating in told) / max(1, len(told))

    def loss(self, score: float) -> float:
        """How far a score is from what else is known."""
        loss = OF_JUDGED * (self.bad * (max(0.0, score - LOW) + MISSED * (score > LOW)))
        loss += OF_JUDGED * (self.good * (max(0.0, HIGH - score) + MISSED * (score < HIGH)))
        return loss + OF_RELATION * (max(0.0, self.floor - score) + max(0.0, score - self.ceiling))


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    raw = path.read_bytes()
    for line in (lzma.decompress(raw) if path.suffix == ".xz" else raw).decode("utf-8").splitlines():
        yield json.loads(line)


class Texts:
    """All texts of a task, their scores, and the harm of leaving parts out."""

    def __init__(self, task: str, databases: Path) -> None:
        self.found: dict[tuple[str, str], Text] = {}
        self.rewards = load_reward_set("grounded", databases)
        self.pairs: list[tuple[Text, Text, float, bool]] = []
        self._read(task)
        self.all = list(self.found.values())
        self.strings: dict[int, dict[tuple[Any, ...], list[int]]] = {}
        self.scores = [0.0] * len(self.all)
        for place in range(len(self.all)):
            self.scores[place] = self._score(place, note=True)
        for text, score in zip(self.all, self.scores, strict=True):
            text.floor, text.ceiling = (
                min(text.floor, score - MOVED),
                max(text.ceiling if text.ceiling < 1 else 1, score),
            )
        known = dict(zip(map(id, self.all), self.scores, strict=True))
        for before, after, by, worse in self.pairs:
            if worse:
                after.ceiling = min(after.ceiling, max(known[id(after)] + MOVED, known[id(before)] - by))
            else:
                after.floor = max(after.floor, known[id(after)] - by)
        self.rho, self.base = self.agreement(), self.missed()

    def _add(self, prompt: dict[str, Any], answer: str) -> Text:
        asked = Asked(prompt["task"], prompt["user"], prompt.get("stars"), prompt.get("reference") or {})
        key = (json.dumps([asked.user, asked.stars, asked.reference], sort_keys=True), answer)
        return self.found.setdefault(key, Text(asked, answer))

    def _read(self, task: str) -> None:
        for path in RATED:
            for number, line in enumerate(_lines(ROOT / path)):
                name = str(line.get("set", "tones" if "tone" in line else "committed"))
                is_old = name.isdigit() and name not in HELD_OUT
                if line["prompt"]["task"] == task and not (is_old and number % EVERY):
                    self._add(line["prompt"], line["completion"]).ratings.append((name, line["rating"]))
        for line in _lines(ROOT / "tests" / "judged_texts.jsonl.xz"):
            for want, _, _, answer in line["texts"] if line["task"] == task else ():
                text = self._add(line, answer)
                text.bad, text.good = text.bad or want == "bad", text.good or want == "good"
        seen: Counter[str] = Counter()
        for row in _lines(ROOT / "tucano" / "audit" / "relations" / "relations.jsonl.xz"):
            if (prompt := row["prompt"])["task"] != task:
                continue
            for answer in (*row.get("right", ()), *(one for some in row.get("sized", {}).values() for one in some)):
                self._add(prompt, answer).floor = 1.0
            for answer in row.get("unread", {}).values():
                self._add(prompt, answer).ceiling = LOW
            for kind, points, before, after in row.get("worse", ()):
                if seen.update([kind]) or seen[kind] > OF_A_KIND:
                    continue
                self.pairs.append((self._add(prompt, before), self._add(prompt, after), points * POINT, True))
            for kind, before, after in (*row.get("as_good", ()), *row.get("same", ())):
                if seen.update([kind]) or seen[kind] > OF_A_KIND:
                    continue
                self.pairs.append((self._add(prompt, before), self._add(prompt, after), 2 * MOVED, False))

    def _score(self, place: int, note: bool = False) -> float:
        text = self.all[place]
        events: set[Any] = set()
        STATE.frame, STATE.noting = events, note
        try:
            total = self.rewards.score(text.prompt, text.answer).total
        except ValueError as error:
            if "database" not in str(error):
                raise
            total = 0.0
        finally:
            STATE.frame = None
        if note:
            text.met = frozenset(one for one in events if isinstance(one, int))
            for one in events:
                if not isinstance(one, int):
                    self.strings.setdefault(one[0], {}).setdefault(one[1:], []).append(place)
        return total

    def agreement(self) -> dict[str, float]:
        """Spearman's rho with the ratings of each group."""
        found = {}
        for name in (*HELD_OUT, "tones"):
            told = [
                (score, rating)
                for text, score in zip(self.all, self.scores, strict=True)
                for group, rating in text.ratings
                if group == name
            ]
            if told:
                found[name] = spearman([score for score, _ in told], [rating for _, rating in told])
        return found

    def missed(self) -> tuple[int, int, int, int]:
        """Bad texts that earn too much and good ones that earn too little, each with how many there are."""
        pairs = list(zip(self.all, self.scores, strict=True))
        bad, good = ([score for text, score in pairs if getattr(text, want)] for want in ("bad", "good"))
        return sum(one > LOW for one in bad), len(bad), sum(one < HIGH for one in good), len(good)

    def tried(self, places: Sequence[int], code: int, allowed: float) -> tuple[int, float] | None:
        """How many texts move without what is left out, and the harm; None where that is more than allowed. What is
        allowed is left out from then on."""
        STATE.trial = code
        gross, rated, moved, told = 0.0, [0.0, 0.0], 0, {}
        sample = random.Random(0).sample(places, len(places))
        for number, place in enumerate(sample):
            if number == MOST_TRIED and not moved:
                break
            try:
                score = self._score(place)
            except Exception:  # whatever it is: without the part the source does not run
                return None
            if abs(score - self.scores[place]) > 1e-9:
                told[place] = score
                moved += abs(score - self.scores[place]) > MOVED
                text, old = self.all[place], self.scores[place]
                gross += max(0.0, text.loss(score) - text.loss(old))
                for tones in (False, True):
                    rated[tones] += text.misses(score, tones) - text.misses(old, tones)
            harm = gross + sum(max(0.0, one) for one in rated)
            if harm > allowed + 0.3:
                return None
        harm = gross + sum(max(0.0, one) for one in rated)
        if harm > allowed + MOVED / 10:
            return None
        before = {place: self.scores[place] for place in told}
        for place, score in told.items():
            self.scores[place] = score
        if any(self.all[place].ratings or self.all[place].bad or self.all[place].good for place in told):
            rho, missed = self.agreement(), self.missed()
            if any(rho[name] < self.rho[name] - MOST_RHO_LOST for name in rho) or any(
                missed[want] > max(MOST_MISSED * missed[want + 1], self.base[want]) for want in (0, 2)
            ):
                for place, score in before.items():
                    self.scores[place] = score
                return None
        for known in STATE.stores:
            for key in [key for key, (_, events) in known.items() if code in events]:
                del known[key]
        STATE.trial = -1
        for place in sample[:MOST_NOTED_ANEW] if not moved else list(told)[:MOST_TRIED]:
            self._score(place, note=True)
        return moved, harm


def _outcome(pattern: re.Pattern[str], how: str, *asked: Any) -> object:
    found = getattr(pattern, how)(*asked)
    if how == "finditer":
        return [(one.span(), one.groups()) for one in found]
    return found if how in ("findall", "split") else found and (found.span(), found.groups())


def try_part(texts: Texts, part: Part, number: int, budget: float) -> tuple[int, int, float] | None:
    """Texts that met a part, that move without it, and the harm; None where it has to stay."""
    noted = next((one for one in STATE.patterns if one.number == number), None)
    places = [place for place, text in enumerate(texts.all) if part.code in text.met]
    if not places:
        return None
    if noted:
        whole, noted.real = noted.real, re.compile(r"(?!)")
        found = texts.tried(places, part.code, budget * part.size / 1000)
        noted.real = whole if found is None else noted.real
    else:
        STATE.forced.add(number)
        found = texts.tried(places, part.code, budget * part.size / 1000)
        if found is None:
            STATE.forced.discard(number)
    STATE.trial = -1
    return (len(places), *found) if found else None


def try_branches(texts: Texts, noted: Noted, budget: float) -> Iterator[tuple[str, int, int, float, int]]:
    """The branches of a pattern that can go, each with what `try_part` says and its length."""
    kept: set[str] = set()
    while texts.strings.get(noted.number):
        todo = [one for one in branches(noted.real.pattern) if one[0] not in kept and len(one[0]) >= SHORTEST]
        if not todo:
            return
        told, without = max(todo, key=lambda one: len(one[0]))
        kept.add(told)
        try:
            shorter = re.compile(without, noted.real.flags & ~re.UNICODE)
            if shorter.groups != noted.real.groups or shorter.match(""):
                continue
        except re.error:
            continue
        whole = noted.real
        places = {
            place
            for asked, some in texts.strings.get(noted.number, {}).items()
            if _outcome(whole, *asked) != _outcome(shorter, *asked)
            for place in some
        }
        noted.real = shorter
        found = texts.tried(sorted(places), 2 * noted.number + 1, budget * len(told) / 1000)
        STATE.trial = -1
        if found is None:
            noted.real = whole
        else:
            yield told, len(places), *found, len(told)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=("extraction", "sql_qa", "insights", "push"))
    parser.add_argument("--budget", type=float, default=0.0, help="harm that a thousand characters may do (default: 0)")
    parser.add_argument("--kinds", default="def,pattern,if,cond,term,branch", help="of parts that are tried")
    arguments = parser.parse_args()
    with stores(COMMITTED_RATINGS) as databases:
        texts = Texts(arguments.task, databases)
        print(f"{len(texts.all)} texts, rho {texts.rho}, missed {texts.missed()}", flush=True)
        print("| part | kind | characters | met by | moves | harm |\n|---|---|---|---|---|---|")
        order = sorted(enumerate(STATE.parts), key=lambda one: (one[1].kind != "def", -one[1].size))
        for number, part in order:
            if part.kind not in arguments.kinds.split(","):
                continue
            if (found := try_part(texts, part, number, arguments.budget)) and found[0]:
                print(
                    f"| {part.label} | {part.kind} | {part.size} | {found[0]} | {found[1]} | {found[2]:.2f} |",
                    flush=True,
                )
        for noted in STATE.patterns if "branch" in arguments.kinds else ():
            for told, met, moved, harm, size in try_branches(texts, noted, arguments.budget):
                print(f"| {noted.label} `{told}` | branch | {size} | {met} | {moved} | {harm:.2f} |", flush=True)
        texts.scores = [texts._score(place) for place in range(len(texts.all))]
        print(f"\nrho {texts.agreement()}, missed {texts.missed()}")


if __name__ == "__main__":
    main()
