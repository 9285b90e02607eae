"""The kill switch: an alarm on a metric that nobody publishes, so that how missing data counts is its state."""

from contextlib import suppress
from typing import Any

from pointsman.aws.alarms import pages
from pointsman.aws.faults import Translated
from pointsman.aws.unreadable import understood
from pointsman.errors import Gone
from pointsman.rollouts.phase import SWITCHES

NAMESPACE, METRIC = "Pointsman/KillSwitch", "Fired"


class CloudWatchKillSwitch:
    """Kill switches of one account and region."""

    def __init__(self, cloudwatch: Any) -> None:
        """Use this client."""
        self._cloudwatch = cloudwatch

    def make(self, alarm: str) -> None:
        """Make it, on a metric without data, and set it to OK; one that was fired stays so."""
        with Translated():
            found = self._cloudwatch.describe_alarms(AlarmNames=[alarm])["MetricAlarms"]
        if found and found[0].get("TreatMissingData") == "breaching":
            return
        self._put(alarm, missing="notBreaching")
        self._set(alarm, "OK", "made")

    def fire(self, alarm: str) -> None:
        """Let it fire, and stay so: ALARM is then its true state, and no evaluation takes it back."""
        self._put(alarm, missing="breaching")
        self._set(alarm, "ALARM", "fired")

    def delete(self, alarm: str) -> None:
        """Delete it."""
        with suppress(Gone), Translated("ResourceNotFound", "ResourceNotFoundException"):
            self._cloudwatch.delete_alarms(AlarmNames=[alarm])

    @understood
    def standing(self) -> tuple[str, ...]:
        """The names of all that there are in the account and region, whosever they are."""
        asked = {"AlarmNamePrefix": SWITCHES, "AlarmTypes": ["MetricAlarm"]}
        found = pages(self._cloudwatch.describe_alarms, asked)
        return tuple(alarm["AlarmName"] for page in found for alarm in page["MetricAlarms"])

    def _put(self, alarm: str, missing: str) -> None:
        with Translated():
            self._cloudwatch.put_metric_alarm(
                AlarmName=alarm,
                AlarmDescription="Turns a rollout's updates back. Made and deleted by Pointsman.",
                Namespace=NAMESPACE,
                MetricName=METRIC,
                Dimensions=[{"Name": "Switch", "Value": alarm}],
                Statistic="Maximum",
                Period=60,
                EvaluationPeriods=1,
                Threshold=0.0,
                ComparisonOperator="GreaterThanThreshold",
                TreatMissingData=missing,
            )

    def _set(self, alarm: str, state: str, why: str) -> None:
        with Translated():
            self._cloudwatch.set_alarm_state(AlarmName=alarm, StateValue=state, StateReason=f"{why} by Pointsman")
