"""A module of a layer that remembers the first name it was told."""

_first: list[str] = []


def remembered(name: str) -> str:
    """Return the first name."""
    if not _first:
        _first.append(name)
    return _first[0]
