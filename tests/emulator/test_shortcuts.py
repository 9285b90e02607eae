"""What the emulator makes once and keeps answers each call as if it had been made anew."""

from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from pointsman_emulator import Emulator

KEY = {"pk": {"S": "one"}}


@pytest.fixture
def table() -> Iterator[Any]:
    with Emulator() as aws:
        client = aws.client("dynamodb")
        client.create_table(
            TableName="t",
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
        yield client


def update(table: Any, expression: str, **values: Any) -> dict[str, Any]:
    answer: dict[str, Any] = table.update_item(
        TableName="t",
        Key=KEY,
        UpdateExpression=expression,
        ExpressionAttributeValues={f":{name}": value for name, value in values.items()},
        ReturnValues="ALL_NEW",
    )["Attributes"]
    return answer


def test_an_update_s_expression_is_kept_and_its_values_are_not(table: Any) -> None:
    for text in ("a", "b", "a"):
        assert update(table, "SET word = :word ADD times :one", word={"S": text}, one={"N": "1"})["word"] == {"S": text}
    assert update(table, "SET word = :word ADD times :one", word={"S": "c"}, one={"N": "2"})["times"] == {"N": "5"}


def test_an_expression_that_failed_once_is_judged_again(table: Any) -> None:
    expression = "SET word = if_not_exists(earlier, :word)"
    assert update(table, expression, word={"S": "first"})["word"] == {"S": "first"}
    update(table, "SET earlier = :word", word={"S": "second"})
    assert update(table, expression, word={"S": "third"})["word"] == {"S": "second"}
    with pytest.raises(ClientError, match="ValidationException"):
        update(table, "SET word = :missing", word={"S": "x"})
    with pytest.raises(ClientError, match="ValidationException"):
        update(table, "SET word = :missing", word={"S": "x"})
