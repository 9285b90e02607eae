"""What a deployed function is told by its environment, read once into a frozen value."""

from collections.abc import Mapping
from dataclasses import dataclass

from pointsman.errors import Misconfigured


@dataclass(frozen=True, slots=True)
class Settings:
    """Names of the resources of one deployment; `endpoint_url` replaces AWS's own addresses (None: it does not)."""

    jobs_table: str
    control_table: str
    queue_wakes_url: str
    dead_letters_url: str
    endpoint_url: str | None = None

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "Settings":
        """Read the settings; raises `Misconfigured` naming every variable that is missing or empty."""
        required = ("JOBS_TABLE", "CONTROL_TABLE", "QUEUE_WAKES_URL", "DEAD_LETTERS_URL")
        missing = [name for name in required if not environment.get(name)]
        if missing:
            raise Misconfigured(f"environment variables missing or empty: {', '.join(missing)}")
        jobs, control, wakes, dead_letters = (environment[name] for name in required)
        return cls(jobs, control, wakes, dead_letters, environment.get("ENDPOINT_URL") or None)
