"""Templates: read as people write them, and expanded by AWS's own SAM translator."""

from __future__ import annotations

import copy
import functools
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]
from samtranslator.model.exceptions import InvalidDocumentException
from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator

SERVERLESS = "AWS::Serverless-2016-10-31"
PSEUDO = "AWS::"
STATE_MACHINE = "AWS::StepFunctions::StateMachine"
SUBSTITUTED = re.compile(r"\$\{(\w+)\}")
NAMED = re.compile(r"\$\{(\w+)(?:\.\w+)?\}")
"""What a text with Fn::Sub refers to, pseudo parameters left out."""


class TemplateError(ValueError):
    """A file that is no template: one sentence that names it and the place."""


class _Loader(yaml.SafeLoader):  # type: ignore[misc]
    """YAML with CloudFormation's short functions, and without dates."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def _short_function(loader: _Loader, suffix: str, node: yaml.Node) -> dict[str, Any]:
    name = suffix if suffix in ("Ref", "Condition") else f"Fn::{suffix}"
    value: Any
    if isinstance(node, yaml.ScalarNode):
        value = loader.construct_scalar(node)
        if suffix == "GetAtt":
            value = value.split(".", 1)
    elif isinstance(node, yaml.SequenceNode):
        value = loader.construct_sequence(node, deep=True)
    else:
        value = loader.construct_mapping(node, deep=True)
    return {name: value}


_Loader.add_multi_constructor("!", _short_function)


@dataclass(frozen=True, slots=True)
class Expanded:
    """A template of plain CloudFormation, and where its code is."""

    template: dict[str, Any]
    functions: Mapping[str, Path]
    layers: tuple[Path, ...]


def expand(path: Path, parameters: Mapping[str, str]) -> Expanded:
    """Read a template; one with the SAM transform is expanded, its local folders kept aside."""
    text = path.read_text(encoding="utf-8")
    raw = _read(path, text)
    functions: dict[str, Path] = {}
    layers: list[Path] = []
    definitions: dict[str, Path] = {}
    default = ((raw.get("Globals") or {}).get("Function") or {}).get("CodeUri")
    for name, resource in raw["Resources"].items():
        properties = resource.get("Properties") or {}
        if resource["Type"] == "AWS::Serverless::Function":
            functions[name] = path.parent / str(properties.get("CodeUri", default))
        elif resource["Type"] == "AWS::Serverless::LayerVersion":
            layers.append(path.parent / str(properties["ContentUri"]))
        elif resource["Type"] == "AWS::Serverless::StateMachine" and isinstance(properties.get("DefinitionUri"), str):
            definitions[name] = path.parent / properties["DefinitionUri"]
    if raw.get("Transform") not in (SERVERLESS, [SERVERLESS]):
        return Expanded(raw, functions, tuple(layers))
    try:
        template = json.loads(_translated(text, json.dumps(dict(parameters), sort_keys=True)))
    except InvalidDocumentException as error:
        raise TemplateError(f"{path}: {error.message}") from None
    for name, file in definitions.items():
        _define(template["Resources"][name]["Properties"], file)
    return Expanded(template, functions, tuple(layers))


def _define(properties: dict[str, Any], file: Path) -> None:
    """Put the definition in place of the address where SAM would upload it, with its substitutions filled in."""
    try:
        text = file.read_text(encoding="utf-8")
        json.loads(text)
    except (OSError, ValueError) as error:
        raise TemplateError(f"{file}: no definition of a state machine: {error}") from None
    given = properties.pop("DefinitionSubstitutions", None) or {}
    missing = sorted({name for name in SUBSTITUTED.findall(text) if name not in given})
    if missing:
        raise TemplateError(f"{file}: the template gives no DefinitionSubstitutions for {', '.join(missing)}")
    properties.pop("DefinitionS3Location", None)
    pieces = SUBSTITUTED.split(text)  # text, name, text, name, .., text
    properties["DefinitionString"] = {"Fn::Join": ["", [given[x] if n % 2 else x for n, x in enumerate(pieces)]]}


@functools.lru_cache(maxsize=16)
def _loaded(text: str) -> Any:
    return yaml.load(text, Loader=_Loader)  # noqa: S506 - a SafeLoader with CloudFormation's tags


def _read(path: Path, text: str) -> dict[str, Any]:
    try:
        raw = copy.deepcopy(_loaded(text))
    except yaml.MarkedYAMLError as error:
        line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise TemplateError(f"{path}{line}: not YAML: {error.problem}") from None
    resources = raw.get("Resources") if isinstance(raw, dict) else None
    if not isinstance(resources, dict):
        raise TemplateError(f"{path}: no template of CloudFormation, it has no Resources")
    for name, resource in resources.items():
        whole = isinstance(resource, dict) and "Type" in resource
        if not whole or not isinstance(resource.get("Properties"), dict | None):
            raise TemplateError(f"{path}: resource {name} needs a Type, and Properties that are a mapping")
    return dict(raw)


@functools.lru_cache(maxsize=16)
def _translated(text: str, parameters: str) -> str:
    raw = copy.deepcopy(_loaded(text))
    for resource in raw["Resources"].values():
        properties = resource.get("Properties") or {}
        if resource["Type"] == "AWS::Serverless::Function":
            properties["CodeUri"] = "s3://emulator/function"
        elif resource["Type"] == "AWS::Serverless::LayerVersion":
            properties["ContentUri"] = "s3://emulator/layer"
        elif resource["Type"] == "AWS::Serverless::StateMachine" and isinstance(properties.get("DefinitionUri"), str):
            properties["DefinitionUri"] = "s3://emulator/definition"
    given = {name: slot["Default"] for name, slot in (raw.get("Parameters") or {}).items() if "Default" in slot}
    given |= json.loads(parameters)
    translator = Translator({}, Parser())
    output = translator.translate(sam_template=raw, parameter_values=given)
    translator.metrics.publish()  # to nobody; else it complains when the process ends
    return json.dumps(output)


def without_dangling(template: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """A template in which no reference leads nowhere, and a sentence for each that did.

    AWS refuses such a template; the emulator goes on, so that the wiring check can say what is missing.
    """
    template = copy.deepcopy(template)
    resources = template["Resources"]
    known = set(resources) | set(template.get("Parameters") or {})
    said: list[str] = []
    for logical_id, resource in resources.items():
        for holder, key, name in list(_references(resource.get("Properties"))):
            if name not in known and not name.startswith(PSEUDO):
                _replace(holder, key, name, f"arn:aws:missing:::{name}")
                sentence = f"{logical_id} refers to {name}, which the template does not have."
                if sentence not in said:
                    said.append(sentence)
    return template, said


def _references(node: Any) -> Iterator[tuple[Any, Any, str]]:
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in items:
        if isinstance(value, dict) and len(value) == 1:
            if isinstance(value.get("Ref"), str):
                yield node, key, value["Ref"]
                continue
            if isinstance(value.get("Fn::GetAtt"), list):
                yield node, key, value["Fn::GetAtt"][0]
                continue
            if isinstance(value.get("Fn::Sub"), str):
                for name in NAMED.findall(value["Fn::Sub"]):
                    yield node, key, name
                continue
        yield from _references(value)


def _replace(holder: Any, key: Any, name: str, value: str) -> None:
    """Put a text in the place of a reference, or of each in the text around it."""
    reference = holder[key]
    if "Fn::Sub" in reference:
        holder[key] = {"Fn::Sub": re.sub(rf"\$\{{{name}(\.\w+)?\}}", value, reference["Fn::Sub"])}
    else:
        holder[key] = value
