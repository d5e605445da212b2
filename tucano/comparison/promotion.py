"""Is a challenger at least nearly as good as the champion, on the same prompts?"""

from collections.abc import Sequence

from tucano.comparison.answers import Answer, Decoding, prompt_means
from tucano.statistics.inference import hodges_lehmann


def noninferiority_bound(answers: Sequence[Answer], challenger: str, champion: str, decoding: Decoding) -> float:
    """One-sided 95 % lower bound of challenger - champion in mean reward per prompt (Hodges-Lehmann, exact signed-rank
    interval).
    """
    means = prompt_means(answers, "reward")
    challengers, champions = means[challenger, decoding], means[champion, decoding]
    differences = [challengers[prompt] - champions[prompt] for prompt in sorted(champions)]
    return hodges_lehmann(differences, level=0.90)[1]
