"""The stack as CloudFormation would create it: `template.yaml`, expanded offline."""

import json
from pathlib import Path
from typing import Any

from pointsman_emulator.templates import expand as expanded

ROOT = Path(__file__).parents[2]
Resource = dict[str, Any]


class Stack:
    """The expanded template, with the questions that the tests ask of it."""

    def __init__(self, template: dict[str, Any], parameters: dict[str, str]) -> None:
        self.template = template
        self.resources: dict[str, Resource] = template["Resources"]
        self.outputs: dict[str, Resource] = template["Outputs"]
        self._parameters = parameters

    def of_type(self, kind: str) -> dict[str, Resource]:
        """The properties of every resource of this type, by logical id."""
        return {name: found.get("Properties", {}) for name, found in self.resources.items() if found["Type"] == kind}

    @property
    def functions(self) -> dict[str, Resource]:
        return self.of_type("AWS::Lambda::Function")

    @property
    def queues(self) -> dict[str, Resource]:
        return self.of_type("AWS::SQS::Queue")

    def statements(self, function: str) -> list[Resource]:
        """What the function's role allows, statement by statement, its inline policies only; conditions are decided."""
        role = self.of_type("AWS::IAM::Role")[target(self.functions[function]["Role"])]
        statements = [statement for policy in role["Policies"] for statement in policy["PolicyDocument"]["Statement"]]
        return [{key: self.value(value) for key, value in statement.items()} for statement in statements]

    def environment(self, function: str) -> dict[str, Any]:
        """The function's environment, its conditions decided by the parameters; what comes to no value is left out."""
        variables = self.functions[function]["Environment"]["Variables"]
        decided = {name: self.value(value) for name, value in variables.items()}
        return {name: value for name, value in decided.items() if value != {"Ref": "AWS::NoValue"}}

    def value(self, value: Any) -> Any:
        """What this comes to with the parameters given, as far as they decide it."""
        match value:
            case {"Fn::If": [condition, yes, no]}:
                return self.value(yes if self.value(self.template["Conditions"][condition]) else no)
            case {"Fn::Not": [inner]}:
                return not self.value(inner)
            case {"Fn::Equals": [left, right]}:
                return self.value(left) == self.value(right)
            case {"Ref": name} if name in self._parameters:
                return self._parameters[name]
            case [*items]:
                return [self.value(item) for item in items]
            case _:
                return value

    def decided(self) -> dict[str, Any]:
        """The template as it is with the parameters given: no condition is left in it."""
        holds = {name: self.value(condition) for name, condition in self.template["Conditions"].items()}
        resources = {
            name: {key: self._pruned(part) for key, part in resource.items() if key != "Condition"}
            for name, resource in self.resources.items()
            if holds.get(resource.get("Condition"), True)
        }
        return {
            **{key: part for key, part in self.template.items() if key != "Conditions"},
            "Resources": resources,
            "Outputs": self._pruned(self.outputs),
        }

    def _pruned(self, node: Any) -> Any:
        """Every If in its place decided, and what comes to no value left out."""
        if isinstance(node, dict):
            if set(node) == {"Fn::If"}:
                (condition, yes, no), nothing = node["Fn::If"], {"Ref": "AWS::NoValue"}
                chosen = yes if self.value(self.template["Conditions"][condition]) else no
                return nothing if chosen == nothing else self._pruned(chosen)
            inner = {key: self._pruned(value) for key, value in node.items()}
            return {key: value for key, value in inner.items() if value != {"Ref": "AWS::NoValue"}}
        return [self._pruned(item) for item in node] if isinstance(node, list) else node


def target(reference: Any) -> str:
    """The logical id that a Ref or an attribute names."""
    match reference:
        case {"Ref": name} | {"Fn::GetAtt": [name, _]}:
            return str(name)
        case _:
            message = f"neither Ref nor GetAtt: {json.dumps(reference)}"
            raise AssertionError(message)


def expand(**given: str) -> Stack:
    """Expand the template with these parameters in place of their defaults."""
    template = expanded(ROOT / "template.yaml", given).template
    defaults = {name: str(declared["Default"]) for name, declared in template["Parameters"].items()}
    return Stack(template, defaults | given)
