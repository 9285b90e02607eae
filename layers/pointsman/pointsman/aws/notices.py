"""Notices to people, on a topic."""

from typing import Any

from pointsman.aws.faults import Translated
from pointsman.rollouts.reasons import Notice

SUBJECT_CHARACTERS = 99


class SnsNotices:
    """One topic; a notice's key is the attribute `notice`, the same each time that it is sent."""

    def __init__(self, sns: Any, topic_arn: str) -> None:
        """Send to this topic."""
        self._sns = sns
        self._topic = topic_arn

    def send(self, notice: Notice) -> None:
        """Tell people."""
        rollout = notice.key.partition("/")[0]
        subject = f"Pointsman: rollout {rollout}".encode("ascii", "replace").decode()
        with Translated():
            self._sns.publish(
                TopicArn=self._topic,
                Subject=subject[:SUBJECT_CHARACTERS],
                Message=notice.sentence,
                MessageAttributes={"notice": {"DataType": "String", "StringValue": notice.key}},
            )
