"""What the CloudFormation types that moto learns from us share."""

# ruff: noqa: ARG003 - the signatures are moto's

from __future__ import annotations

from typing import Any, ClassVar, Self


class StackResource:
    """A resource of a template, which a backend holds under its name.

    moto learns the direct subclasses of its CloudFormationModel, so that a type derives from both.
    """

    service: ClassVar[str]
    kind: ClassVar[str]
    name_property: ClassVar[str]

    def __init__(self, name: str, arn: str) -> None:
        self.name = name
        self.arn = arn

    @property
    def physical_resource_id(self) -> str:
        """What Ref gives: the ARN, unless a type says otherwise."""
        return self.arn

    @classmethod
    def cloudformation_name_type(cls) -> str:
        """The property that names it."""
        return cls.name_property

    @classmethod
    def cloudformation_type(cls) -> str:
        """The type."""
        return f"AWS::{cls.service}::{cls.kind}"

    @classmethod
    def has_cfn_attr(cls, attr: str) -> bool:
        """Whether Fn::GetAtt has this attribute."""
        return attr in {cls.name_property, "Arn", f"{cls.kind}Arn"}

    def get_cfn_attribute(self, attribute_name: str) -> Any:
        """The name, or the ARN."""
        return self.name if attribute_name == self.name_property else self.arn

    @classmethod
    def make(cls, name: str, properties: dict[str, Any]) -> Self:
        """Create it."""
        raise NotImplementedError

    def change(self, properties: dict[str, Any]) -> None:
        """Change it."""
        raise NotImplementedError(f"The emulator cannot update {self.cloudformation_type()}: give it another name")

    @classmethod
    def drop(cls, name: str) -> None:
        """Delete it."""
        raise NotImplementedError

    @classmethod
    def create_from_cloudformation_json(
        cls, resource_name: str, cloudformation_json: Any, account_id: str, region_name: str, **kwargs: Any
    ) -> Self:
        """Create it."""
        properties = cloudformation_json["Properties"]
        # moto takes the property that names a resource from its own class of the type, which may have none
        return cls.make(properties.get(cls.name_property, resource_name), properties)

    @classmethod
    def update_from_cloudformation_json(
        cls,
        original_resource: Any,
        new_resource_name: str,
        cloudformation_json: Any,
        account_id: str,
        region_name: str,
    ) -> Any:
        """Change it."""
        original_resource.change(cloudformation_json["Properties"])
        return original_resource

    @classmethod
    def delete_from_cloudformation_json(
        cls, resource_name: str, cloudformation_json: Any, account_id: str, region_name: str
    ) -> None:
        """Delete it."""
        cls.drop(resource_name.rsplit("/", 1)[-1])
