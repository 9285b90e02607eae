"""An update of a stack writes weights and borrow limits as its template has them; passes set them again."""

from pointsman.policy_documents import stored_policy
from pointsman.queues.share_drift import share_drift
from tests.flow.day import QUEUE, ROOT, Day, opened

EXAMPLE = ROOT / "examples/batch.yaml"
QUOTA = ROOT / "tests/emulator/stack/quota.yaml"
CLASSES = [{"name": "all", "match": {"share": "all", "job_name": "sweep-*"}, "weight": 2}]


def update(day: Day, stack: str, text: str, **parameters: str) -> None:
    given = [{"ParameterKey": name, "ParameterValue": value} for name, value in parameters.items()]
    day.aws.client("cloudformation").update_stack(StackName=stack, TemplateBody=text, Parameters=given)


def drift(day: Day, queue: str) -> tuple[str, ...]:
    """What is no longer as it was set, as a person would be told."""
    observer, stored = day.wiring.observer(keep=False), day.wiring.control.policy(queue)
    assert stored is not None
    description = observer.shares.described(day.wiring.batch.describe_queue(queue))
    notes = observer.shares.records.share_changes(queue)
    return share_drift(stored_policy(stored.document), description.weights, description.quota_shares, notes)


def test_the_weights_of_the_example_are_set_again_after_an_update_of_its_stack() -> None:
    with opened() as day:
        day.apply(across_shares="weights", on_alarm=[], classes=CLASSES)
        day.submit("sweep-0")
        day.pass_minutes(8)
        batch = day.aws.client("batch")
        assert drift(day, QUEUE) == ()

        changed = EXAMPLE.read_text().replace(
            "FairsharePolicy:\n", "FairsharePolicy:\n        ComputeReservation: 10\n"
        )
        update(day, "search", changed, MaxInstances="4")
        (said,) = drift(day, QUEUE)
        assert said == "the weight of share all is 1, and its policy states 2: it is set again soon"

        day.pass_minutes(12)
        (policy,) = batch.describe_scheduling_policies(
            arns=[found["arn"] for found in batch.list_scheduling_policies()["schedulingPolicies"]]
        )["schedulingPolicies"]
        assert policy["fairsharePolicy"]["shareDistribution"] == [{"shareIdentifier": "all", "weightFactor": 2.0}]
        assert policy["fairsharePolicy"]["computeReservation"] == 10, "what the update was for stays"
        assert drift(day, QUEUE) == ()
        assert not day.aws.failures


def test_what_an_alarm_lets_a_share_borrow_is_set_again_and_given_back_after_it() -> None:
    with opened() as day:
        day.aws.deploy(QUOTA, "quotas", {})
        rule = {"alarm": "ranker-drift-*", "share": "search", "borrow_limit": 400}
        classes = [{"name": "production", "match": {"job_name": "prod-*"}}]
        day.apply("training", share="search", spread="0m", reservation=None, classes=classes, on_alarm=[rule])
        day.drift(0, 35)
        day.pass_minutes(12)
        assert share(day)["borrowLimit"] == 400

        update(day, "quotas", QUOTA.read_text().replace("MaxCapacity: 1", "MaxCapacity: 2"))
        assert share(day)["borrowLimit"] == 200
        (said,) = drift(day, "training")
        assert said.startswith(
            "the borrow limit of share search is 200, and was set to 400 (alarm ranker-drift-search)"
        )
        day.pass_minutes(4)
        assert share(day) == {"strategy": "LEND_AND_BORROW", "borrowLimit": 400}
        day.pass_minutes(35)
        assert share(day)["borrowLimit"] == 200
        assert drift(day, "training") == ()


def share(day: Day) -> dict[str, object]:
    (found,) = day.aws.client("batch").list_quota_shares(jobQueue="training")["quotaShares"]
    return dict(found["resourceSharingConfiguration"])
