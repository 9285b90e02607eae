"""The dead-letter queues of a deployment: read without taking anything away, and sent back to where it came from."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from pointsman.aws.faults import Translated
from pointsman.aws.messages import group_of
from pointsman.errors import PointsmanError
from pointsman_cli.letters import ALARMS, COMMANDS, QUEUE_WAKES, TICKS, Letter, Message, letter

OUTPUTS = ("DeadLettersUrl", "DeadWakesUrl", "JobEventsUrl", "QueueWakesUrl")
FUNCTIONS = {ALARMS: "RelayAlarmFunction", COMMANDS: "CommandRolloutFunction", TICKS: "WakeDueFunction"}
MOST = 500  # messages of one queue that are read
PAGE = 10
HELD = 120  # seconds that a message is hidden from others while we look at it
POLL = 1  # seconds: a receive that does not wait asks only some of the servers of SQS


@dataclass(frozen=True, slots=True)
class LetterBox:
    """Both dead-letter queues of one deployment, by the outputs of its stack."""

    sqs: Any
    functions: Any  # a client of Lambda
    outputs: Mapping[str, str]

    @property
    def _boxes(self) -> tuple[tuple[str, str], ...]:
        return (self.outputs["DeadLettersUrl"], ""), (self.outputs["DeadWakesUrl"], QUEUE_WAKES)

    def read(self) -> tuple[Letter, ...]:
        """Every letter that can be seen now, the oldest first; hidden from others until `give_back`, or two minutes."""
        names = {self.outputs[output]: edge for edge, output in FUNCTIONS.items() if output in self.outputs}
        found = [letter(message, names) for url, edge in self._boxes for message in self._receive(url, edge)]
        return tuple(sorted(found, key=lambda each: each.message.sent))

    def _receive(self, url: str, edge: str) -> Iterator[Message]:
        seen: set[str] = set()
        while len(seen) < MOST:
            with Translated():
                answer = self.sqs.receive_message(
                    QueueUrl=url,
                    MaxNumberOfMessages=PAGE,
                    VisibilityTimeout=HELD,
                    WaitTimeSeconds=POLL,
                    MessageAttributeNames=["All"],
                    MessageSystemAttributeNames=["SentTimestamp"],
                )
            new = [message for message in answer.get("Messages", ()) if message["MessageId"] not in seen]
            if not new:
                return
            for message in new:
                seen.add(message["MessageId"])
                said = {
                    key: value.get("StringValue", "") for key, value in message.get("MessageAttributes", {}).items()
                }
                sent = float(message.get("Attributes", {}).get("SentTimestamp", 0)) / 1000
                yield Message(message["MessageId"], message["Body"], sent, message["ReceiptHandle"], said, edge)

    def waiting(self) -> int:
        """How many letters there are, as SQS estimates it: those that are hidden by someone else too."""
        names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        total = 0
        for url, _ in self._boxes:
            with Translated():
                attributes = self.sqs.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"]
            total += sum(int(attributes[name]) for name in names)
        return total

    def give_back(self, letters: Iterable[Letter]) -> None:
        """Let others see these letters at once; what fails is seen again in two minutes."""
        by_url: dict[str, list[Message]] = {}
        for each in letters:
            by_url.setdefault(self._url(each), []).append(each.message)
        for url, messages in by_url.items():
            for start in range(0, len(messages), PAGE):
                entries = [
                    {"Id": str(n), "ReceiptHandle": message.receipt, "VisibilityTimeout": 0}
                    for n, message in enumerate(messages[start : start + PAGE])
                ]
                with suppress(PointsmanError), Translated():
                    self.sqs.change_message_visibility_batch(QueueUrl=url, Entries=entries)

    def send_back(self, wanted: Letter) -> None:
        """Send it to where it came from, and only then delete it: a message may come twice, and is never lost.

        Whoever handles it takes a second one for none. Raises `Transient` and `Misconfigured`.
        """
        with Translated():
            match wanted.edge:
                case "job-events":
                    self.sqs.send_message(QueueUrl=self.outputs["JobEventsUrl"], MessageBody=wanted.again)
                case "queue-wakes":
                    self.sqs.send_message(
                        QueueUrl=self.outputs["QueueWakesUrl"],
                        MessageBody=wanted.again,
                        MessageGroupId=group_of(wanted.concerns.removeprefix("queue ")),
                        MessageDeduplicationId=f"redrive-{wanted.message.message_id}",
                    )
                case edge:
                    function = self.outputs[FUNCTIONS[edge]]
                    payload = wanted.again.encode()
                    self.functions.invoke(FunctionName=function, InvocationType="Event", Payload=payload)
            self.sqs.delete_message(QueueUrl=self._url(wanted), ReceiptHandle=wanted.message.receipt)

    def _url(self, of: Letter) -> str:
        return self.outputs["DeadWakesUrl" if of.message.queue == QUEUE_WAKES else "DeadLettersUrl"]


def missing(outputs: Mapping[str, str]) -> Sequence[str]:
    """Outputs that a stack of an earlier release lacks."""
    return [name for name in (*OUTPUTS, *FUNCTIONS.values()) if not outputs.get(name)]
