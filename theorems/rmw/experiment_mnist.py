"""§8: the experiment on the digits 3 and 8 of MNIST. The figure itself is recomputed by `simopt reproduce rmw-figure1`."""

from __future__ import annotations

from collections.abc import Iterator

import simopt.claims as sc
from simopt.theorems.rmw.bandwidth_readings import READINGS, signed_gram
from simopt.theorems.rmw.herds_of_herds import OnTestImages, mean_norm, recursion

TOLERANCE = 0.01
PRINTED = 0.9874
ROUNDED = 5e-5  # half a unit of the last printed place


def the_images(trial: sc.Trial) -> Iterator[sc.Instance]:
    """All training and test images."""
    yield {"dataset": "mnist_3v8"}


@sc.claim(
    "RMW-E1",
    place="Section 8, Figure 1",
    kind=sc.EXPERIMENT,
    says=r"MNIST, 3 against 8, pixels in [0, 1], **K(x, x') = e^{−‖x−x'‖²/2}**: the mean classifier has 98.74 % on the test images. "
    r"Herding the training images with ε = 0.01, then **the herd with its weights**, and so on down to 100 points, a herd of 1.0 % of "
    r"them has more than 94 %, and one of less than 20 % more than 97 %. ε is larger than ‖ω_S‖, and the first herd has 1/(ε² + 1/n) "
    r"points, within a hundredth, as if all images were orthogonal (RMW-E1-size).",
    instances=the_images,
    knobs={"reading": 0, "weighted": True},
    mutants={
        "exp(−‖x−x'‖²)": {"reading": 1},
        "the median distance as bandwidth": {"reading": 3},
        "herds of herds without their weights": {"weighted": False},
    },
    covers=("RMW-E1-size",),
    requires=("dataset:mnist_3v8",),
    note="Both readings in bold are ours; of ten readings of the bandwidth (rmw-figure1) only this one gives 98.74 %. Since ‖ω_S‖ < ε, "
    "the function 0 is within the tolerance too: what the tolerance does is fix the number of points. rmw-figure1 has the accuracy of as "
    "many images drawn at random beside that of the herds.",
)
def the_experiment_is_reproduced(dataset: str, trial: sc.Trial) -> Iterator[sc.Check]:
    """The baseline, all herds of herds, and the number of points of the first."""
    reading = READINGS[trial["reading"]]
    images = reading.images(trial.dataset(dataset))
    n = len(images.labels)
    on_test = OnTestImages(images, reading)
    yield sc.at_most(abs(on_test.whole() - PRINTED), ROUNDED, "accuracy of the mean classifier against 98.74 %")
    gram = signed_gram(images, reading)
    stages = list(recursion(gram, TOLERANCE, weighted=trial["weighted"]))
    hundredth = [on_test.of(stage) for stage in stages if round(100 * stage.size / n, 1) == 1.0]
    fifth = next(stage for stage in stages if stage.size < 0.2 * n)
    yield sc.at_least(max(hundredth, default=0.0), 0.94, "best accuracy of a herd of 1.0 % of the images", strict=True)
    yield sc.at_least(on_test.of(fifth), 0.97, "accuracy of the largest herd of less than 20 %", strict=True)
    yield sc.at_most(mean_norm(gram), TOLERANCE, "‖ω_S‖ against ε", row="RMW-E1-size")
    orthogonal = 1 / (TOLERANCE**2 + 1 / n)
    relative = stages[0].size / orthogonal - 1
    yield sc.at_most(sc.between(abs(relative), abs(relative)), 0.01, "points of the first herd against 1/(ε² + 1/n)", row="RMW-E1-size")
