"""The examples work together: what examples/inference.yaml deploys is rolled by examples/rollout.yaml."""

from pathlib import Path

from pointsman.rollout_documents import parse_request
from pointsman.rollouts.planner import make_plan
from pointsman_cli.check import checked
from pointsman_cli.demo.rollout.deployed import deploy
from pointsman_cli.demo.rollout.world import START
from pointsman_emulator.emulator import Emulator

EXAMPLES = Path(__file__).parents[2] / "examples"
PARAMETERS = {"Image": "chat:1", "ArtifactV1": "s3://models/chat-1.tar.gz", "ArtifactV2": "s3://models/chat-2.tar.gz"}


def test_the_example_is_planned_and_rolled() -> None:
    found = checked(EXAMPLES / "rollout.yaml", parse_request)
    request, document = found.stated, found.source.value
    assert request is not None
    assert isinstance(document, dict)
    with Emulator(7, START) as aws:
        deployed = deploy(aws)
        store = aws.client("s3")
        store.create_bucket(Bucket="models")
        for version in ("chat-1", "chat-2"):
            store.put_object(Bucket="models", Key=f"{version}.tar.gz", Body=b"")
        aws.deploy(EXAMPLES / "inference.yaml", "chat", PARAMETERS)
        aws.run_for(1200)
        aws.inference_model.start_traffic("llm", 4.0)
        aws.run_for(600)
        plan = make_plan(request, deployed.observer.survey(request), aws.now)
        assert plan.refused == ()
        assert [(m.name, m.copies, m.batch.copies, m.natives) for m in plan.members] == [("llm", 3, 1, ("llm-errors",))]
        deployed.ask(document)
        aws.run_for(2 * 3600)
        record = deployed.table.load(request.rollout).record
        assert record.phase == "SUCCEEDED", record
        assert aws.inference_model.components["llm"].spec.model == "chat-v2"
        assert aws.inference_model.counts("llm").lost == 0
