"""What a decision costs, and an explanation."""

import tracemalloc
from statistics import median
from typing import Any

from bench.load import Load
from bench.measuring import timed
from bench.observing import view_of
from pointsman.queues.decide import decide
from pointsman.queues.explain import explain


def deciding(load: Load) -> dict[str, Any]:
    """Seconds of one decision (the first, and the median of five), of an explanation, and of making the view."""
    policy = load.policy
    view, making = view_of(load)
    decision, first = timed(lambda: decide(view, policy))
    again = [timed(lambda: decide(view, policy))[1] for _ in range(5)]
    tracemalloc.start()
    decide(view, policy)
    memory = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    youngest = max(view.waiting, key=lambda job: (job.submitted, job.job_id))
    standing, explaining = timed(lambda: explain(view, policy, decision, youngest.job_id))
    return {
        "moves": len(decision.moves),
        "view_seconds": making,
        "decide_seconds": first,
        "decide_again_seconds": median(again),
        "decide_mb": memory,
        "explain_seconds": explaining,
        "position": standing.position if standing else None,
    }
