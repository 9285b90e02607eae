"""What a rollout survives, and what is refused: executions that die, a pause, mistakes by event and by hand."""

import json

from tests.flow.fleet import MINUTE, SAMPLE, deployed

ROLLOUT = SAMPLE["detail"]["rollout"]
SHORT = {"bake": "5m", "final_bake": "5m", "wait": "1m"}


def test_an_execution_that_is_stopped_has_a_successor_and_the_rollout_ends_the_same() -> None:
    with deployed() as fleet:
        fleet.ask(**SHORT)
        fleet.aws.run_for(5 * MINUTE)
        told: list[str] = []
        fleet.aws.watch(lambda event: told.append(str(event["detail"].get("alarmName", ""))))
        machine = fleet.wiring.settings.state_machine.replace(":stateMachine:", ":execution:")
        fleet.aws.client("stepfunctions").stop_execution(executionArn=f"{machine}:{ROLLOUT}-1")
        assert fleet.until_ended().record.phase.value == "SUCCEEDED"
        assert fleet.models() == ["chat-v2"] * 3
        assert fleet.executions() == {f"{ROLLOUT}-1": "ABORTED", f"{ROLLOUT}-2": "SUCCEEDED"}
        assert fleet.stack.resources["DeadExecutionsAlarm"] in told
        assert not fleet.aws.failures


def test_mistakes_change_nothing_and_are_told_to_whom_it_concerns() -> None:
    with deployed() as fleet:
        fleet.ask(chnage={"model": "chat-v3"})
        fleet.ask(targets=[{"component": "nobody"}])
        fleet.aws.run_for(5 * MINUTE)
        record = fleet.record().record
        assert (record.phase.value, fleet.models()) == ("REJECTED", ["chat-v1"] * 3)
        assert "nobody" in record.cause
        (letter,) = fleet.dead_letters()
        assert json.loads(letter[0])["detail"]["chnage"]
        assert "chnage" in letter[1]
        told = fleet.command("abort", "never-heard-of")
        assert told["refused"]["problem"] == "there is no such rollout"
        assert ROLLOUT in told["refused"]["remedy"]
        assert not fleet.aws.failures


def test_a_person_holds_a_rollout_and_lets_it_go_on() -> None:
    with deployed() as fleet:
        fleet.ask(**SHORT)
        fleet.aws.run_for(2 * MINUTE)
        assert fleet.command("pause", reason="lunch")["said"].startswith("pause by claimed:arn:aws:iam")
        fleet.aws.run_for(120 * MINUTE)
        assert fleet.phases(f"{ROLLOUT}-1")[-1] == "Await operator"
        fleet.command("resume")
        assert fleet.until_ended().record.phase.value == "SUCCEEDED"
