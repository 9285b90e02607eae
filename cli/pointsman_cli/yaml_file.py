"""A YAML file as plain values, with the place of each. What YAML forbids or guesses at is found with its line."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path as File
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from ruamel.yaml.reader import ReaderError

from pointsman.documents import Path
from pointsman.errors import UserMistake

MOST_BYTES = 256 * 1024  # what is stored of it has to fit in one item of the control table
MOST_VALUES = 20_000  # bounds what a few aliases can expand to

_TAG = "tag:yaml.org,2002:"
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)")  # text to whoever reads JSON
_BOOLEANS = {"true": True, "yes": True, "on": True, "y": True, "false": False, "no": False, "off": False, "n": False}


@dataclass(frozen=True, slots=True)
class Place:
    """Line and column, both from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Guess:
    """A bare word that YAML takes for something else than text; `known`: for something that JSON has too."""

    text: str
    kind: str
    known: bool


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something that is wrong with the file as YAML."""

    place: Place
    path: Path
    message: str
    remedy: str = ""


@dataclass(slots=True)
class YamlFile:
    """The values of a file (`value` is None when `troubles` says that it could not be read)."""

    value: object = None
    places: dict[Path, Place] = field(default_factory=dict)
    guesses: dict[Path, Guess] = field(default_factory=dict)
    troubles: list[Trouble] = field(default_factory=list)

    def place(self, path: Path) -> Place:
        """Where this key is; for one that is not there, where the nearest of those around it is."""
        for length in range(len(path), -1, -1):
            if path[:length] in self.places:
                return self.places[path[:length]]
        return Place(1, 1)


def read_yaml(file: File) -> YamlFile:
    """The file's one document; raises `UserMistake` when there is no file to be read."""
    raw = _bytes(file)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = _counted(raw[: error.start].decode(errors="replace"))
        return _unread(place, f"not UTF-8: byte 0x{raw[error.start]:02x}", "save the file as UTF-8")
    if len(raw) > MOST_BYTES:
        return _unread(Place(1, 1), f"{len(raw)} bytes are too many for one document", f"{MOST_BYTES} are allowed")
    found = YamlFile()
    try:
        node = YAML(typ="safe", pure=True).compose(text)
        if node is None:
            return _unread(Place(1, 1), "the file is empty", "start with `version: 1`")
        found.value = _Values(found).value(node, (), frozenset())
    except ReaderError as error:
        place = _counted(text[: error.position])
        return _unread(place, f"not YAML: the character {text[error.position]!r} is not allowed", "take it out")
    except MarkedYAMLError as error:
        return _unmarked(error)
    except YAMLError as error:
        return _unread(Place(1, 1), f"not YAML: {error}")
    except RecursionError:
        return _unread(Place(1, 1), "nested too deeply", "four levels are enough")
    except _TooManyValues:
        return _unread(Place(1, 1), f"its aliases expand to more than {MOST_VALUES} values", "write them out")
    return found


def _bytes(file: File) -> bytes:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        raise UserMistake("there is no such file", place=str(file)) from None
    except IsADirectoryError:
        raise UserMistake("this is a folder, not a file", place=str(file)) from None
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UserMistake(f"cannot be read: {why}", place=str(file)) from None


def _unread(place: Place, message: str, remedy: str = "") -> YamlFile:
    return YamlFile(troubles=[Trouble(place, (), message, remedy)])


def _unmarked(error: MarkedYAMLError) -> YamlFile:
    mark = error.problem_mark or error.context_mark
    place = Place(mark.line + 1, mark.column + 1) if mark else Place(1, 1)
    message = ": ".join(part for part in (error.context, error.problem) if part)
    began = error.context_mark
    remedy = f"it began on line {began.line + 1}" if began and mark and began.line != mark.line else ""
    return _unread(place, f"not YAML: {message}", remedy)


def _counted(before: str) -> Place:
    lines = before.split("\n")
    return Place(len(lines), len(lines[-1]) + 1)


class _TooManyValues(Exception):
    """A few aliases can stand for millions of values."""


class _Values:
    """Turns nodes into values, and notes places, guesses and troubles in the file."""

    def __init__(self, file: YamlFile) -> None:
        self._file = file
        self._count = 0

    def value(self, node: Node, path: Path, around: frozenset[int]) -> object:
        self._count += 1
        if self._count > MOST_VALUES:
            raise _TooManyValues
        self._file.places.setdefault(path, _place(node))
        if id(node) in around:
            self._trouble(node, path, "an alias that stands for what it is part of", "write it out")
            return None
        if isinstance(node, MappingNode):
            return self._mapping(node, path, around | {id(node)})
        if isinstance(node, SequenceNode):
            inside = around | {id(node)}
            return [self.value(item, (*path, n), inside) for n, item in enumerate(node.value)]
        return self._scalar(node, path)

    def _mapping(self, node: MappingNode, path: Path, around: frozenset[int]) -> Mapping[str, object]:
        values: dict[str, object] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, ScalarNode):
                self._trouble(key_node, path, "a key is one word", "write the key as plain text")
                continue
            key = str(key_node.value)
            if key in values:
                first = self._file.places[(*path, key)].line
                message = f"the key `{key}` is there twice, first on line {first}"
                self._trouble(key_node, (*path, key), message, "take one out")
                continue
            self._file.places[(*path, key)] = _place(key_node)
            values[key] = self.value(value_node, (*path, key), around)
        return values

    def _scalar(self, node: Node, path: Path) -> object:
        text, tag = str(node.value), str(node.tag)
        kind = tag.removeprefix(_TAG)
        if kind == "str" or (kind == "timestamp" and _MOMENT.fullmatch(text)):
            return text
        if kind == "null":
            return None
        if kind not in ("bool", "int", "float", "timestamp"):
            self._trouble(
                node, path, f"the tag `{tag if kind == tag else f'!!{kind}'}` means nothing here", "take it out"
            )
            return text
        value = _guessed(kind, text)
        word = {"bool": "a boolean", "timestamp": "a date"}.get(kind, "a number")
        self._file.guesses[path] = Guess(text, word, known=value is not None)
        return text if value is None else value

    def _trouble(self, node: Node, path: Path, message: str, remedy: str) -> None:
        self._file.troubles.append(Trouble(_place(node), path, message, remedy))


def _guessed(kind: str, text: str) -> Any:
    """The boolean or number that the text is in JSON's sense; None for a date, a sexagesimal number, infinity."""
    try:
        if kind == "bool":
            return _BOOLEANS.get(text.lower())
        if kind == "int":
            return int(text, 0)
        number = float(text.replace("_", "")) if kind == "float" else None
    except ValueError:
        return None
    return number if number is not None and abs(number) != float("inf") else None


def _place(node: Node) -> Place:
    return Place(node.start_mark.line + 1, node.start_mark.column + 1)
