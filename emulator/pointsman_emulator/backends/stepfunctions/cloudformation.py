"""What moto's CloudFormation does not know of state machines: that `Fn::GetAtt` gives their ARN, as `Ref` does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from moto.stepfunctions.models import StateMachine

_has = StateMachine.has_cfn_attr
_get = StateMachine.get_cfn_attribute


@contextmanager
def completed() -> Iterator[None]:
    """Inside, it does."""

    def has(attr: str) -> bool:
        return attr == "Arn" or _has(attr)

    def get(machine: StateMachine, attribute_name: str) -> Any:
        return machine.arn if attribute_name == "Arn" else _get(machine, attribute_name)

    with (
        mock.patch.object(StateMachine, "has_cfn_attr", staticmethod(has)),
        mock.patch.object(StateMachine, "get_cfn_attribute", get),
    ):
        yield
