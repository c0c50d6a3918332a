"""Peak memory and time of the mean and of a herd of 1000 atoms at n = 100 000, in memory and on disk; the Gram matrix would take 80 GB."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from pairs import arguments, machine, met, peak_megabytes, seconds

from simopt.data.similarities import Gaussian
from simopt.estimators.herding.herd import herd
from simopt.solvers.herding.mean_embedding import mean_embedding
from simopt.solvers.herding.mean_function import mean_function

LIMIT = 300.0  # megabytes above the data


def works(x: Any, y: np.ndarray, atoms: int) -> dict[str, Any]:
    """What is measured, by name."""
    similarity = Gaussian(2.0)
    return {
        "mean: 1000 predictions": lambda: mean_function(x, y, similarity).decision(x[:1000]),
        "mean: values and norm, float32": lambda: mean_embedding(x, y, similarity, precision="float32"),
        "mean: values and norm, float64": lambda: mean_embedding(x, y, similarity, precision="float64"),
        f"{atoms} atoms, uniform": lambda: herd(x, y, similarity, atoms=atoms),
        f"{atoms} atoms, blended": lambda: herd(x, y, similarity, atoms=atoms, steps="blended", max_iter=4 * atoms),
        f"{atoms // 4} atoms, fully corrective": lambda: herd(x, y, similarity, atoms=atoms // 4, steps="fully-corrective"),
    }


def main() -> None:
    """n = 100 000 in 20 dimensions, from an array and from a memory map."""
    options = arguments(__doc__ or "")
    n, atoms = (4000, 100) if options.quick else (100_000, 1000)
    rng = np.random.default_rng(0)
    x = rng.uniform(size=(n, 20))
    y = np.where(x[:, 0] - 0.5 + 0.15 * rng.normal(size=n) > 0, 1.0, -1.0)
    herd(x[:500], y[:500], Gaussian(2.0), atoms=5, steps="fully-corrective")  # compilation is no memory of the herd
    print(f"\n## memory at n = {n}, d = 20; one Gram matrix in float64 is {8e-6 * n * n:.0f} MB\n{machine()}")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "points"
        x.tofile(path)
        away = np.memmap(path, dtype=np.float64, mode="r", shape=x.shape)
        for place, points in (("array", x), ("memory map", away)):
            for name, work in works(points, y, atoms).items():
                taken: list[float] = []
                megabytes = peak_megabytes(lambda work=work, taken=taken: taken.append(seconds(work)))
                time = taken[0]
                rows.append({"place": place, "work": name, "seconds": time, "megabytes": megabytes})
                print(f"{place:<12} {name:<32} {time:8.2f} s {megabytes:8.0f} MB", flush=True)
    worst = max(row["megabytes"] for row in rows)
    summary = f"largest peak above the data, in MB, {met(worst, LIMIT)}"
    print(summary, flush=True)
    if options.json:
        Path(options.json).write_text(json.dumps({"machine": machine(), "summary": summary, "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
