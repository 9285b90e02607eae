"""Notices to people, on a topic."""

from typing import TYPE_CHECKING, Any

from pointsman.aws.faults import Translated

if TYPE_CHECKING:
    from pointsman.queues.notices import QueueNotice
    from pointsman.rollouts.reasons import Notice

SUBJECT_CHARACTERS = 99


class SnsNotices:
    """One topic; a notice's key is the attribute `notice`, the same each time that it is sent."""

    def __init__(self, sns: Any, topic_arn: str) -> None:
        """Send to this topic."""
        self._sns = sns
        self._topic = topic_arn

    def send(self, notice: "Notice") -> None:
        """Tell people of a rollout."""
        rollout = notice.key.partition("/")[0]
        self._publish(f"Pointsman: rollout {rollout}", notice.key, notice.sentence)

    def tell(self, queue: str, notice: "QueueNotice") -> None:
        """Tell people of a queue."""
        what = notice.key.partition("/")[0].replace("_", " ")
        self._publish(f"Pointsman: queue {queue}: {what}", notice.id(queue), notice.sentence)

    def _publish(self, subject: str, key: str, sentence: str) -> None:
        with Translated():
            self._sns.publish(
                TopicArn=self._topic,
                Subject=subject.encode("ascii", "replace").decode()[:SUBJECT_CHARACTERS],
                Message=sentence,
                MessageAttributes={"notice": {"DataType": "String", "StringValue": key}},
            )
