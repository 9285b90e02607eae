"""What a version is: the digest of what runs, and a change of it."""

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pointsman.rollouts.specs import Change, Compute, Spec
from tests.unit.rollouts.build import NEW, OLD


@given(st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=4), st.randoms())
def test_a_digest_is_of_what_runs_and_not_of_its_order(environment: dict[str, str], luck: Any) -> None:
    pairs = list(environment.items())
    luck.shuffle(pairs)
    assert Spec(environment=tuple(pairs)).digest == Spec(environment=tuple(environment.items())).digest


def test_a_digest_knows_each_part_and_not_the_rest() -> None:
    parts = {OLD.digest, NEW.digest, replace(OLD, image="b").digest, replace(OLD, artifact="c").digest}
    parts |= {replace(OLD, environment=(("A", "1"),)).digest, replace(OLD, compute=Compute(2, 4, 16_000)).digest}
    assert len(parts) == 6
    assert replace(OLD, rest='{"StartupParameters": {}}').digest == OLD.digest


def test_a_change_keeps_what_it_does_not_name() -> None:
    old = replace(OLD, environment=(("A", "1"), ("B", "2")))
    new = Change(artifact="s3://x", environment=(("A", None), ("C", "3"))).applied_to(old)
    assert new == replace(old, artifact="s3://x", environment=(("B", "2"), ("C", "3")))
