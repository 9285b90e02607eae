"""How an update goes: what a DeploymentConfig means for a number of copies."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor

from pointsman_emulator.models.inference_values import Document, InferenceRefusedError, InferenceSettings


@dataclass(frozen=True, slots=True)
class Plan:
    """How an update goes."""

    batch: int
    wait: float = 0.0
    rollback_batch: int | None = None
    """None: all at once."""
    timeout: float | None = None
    alarms: tuple[str, ...] = ()
    rolling: bool = True


def plan_of(config: Document | None, copies: int, settings: InferenceSettings) -> Plan:
    """What a DeploymentConfig means for so many copies; one that cannot be is refused.

    >>> config = {"RollingUpdatePolicy": {"MaximumBatchSize": {"Type": "CAPACITY_PERCENT", "Value": 25}, ...}}
    >>> plan_of(config, 10, InferenceSettings()).batch  # 2.5 copies, rounded down
    2
    """
    if config is None:
        return Plan(max(1, copies), rolling=False, timeout=settings.default_timeout)
    policy = config["RollingUpdatePolicy"]
    _check(config)
    batch = _batch(policy["MaximumBatchSize"], copies, settings)
    alarms = (config.get("AutoRollbackConfiguration") or {}).get("Alarms") or ()
    back = policy.get("RollbackMaximumBatchSize")
    plain = batch is None
    return Plan(
        batch or max(1, copies),
        0.0 if plain else float(policy["WaitIntervalInSeconds"]),
        None if back is None or plain else max(1, _resolved(back, copies, settings)),
        float(policy.get("MaximumExecutionTimeoutInSeconds", 0)) or settings.default_timeout,
        () if plain else tuple(alarm["AlarmName"] for alarm in alarms),
        rolling=not plain,
    )


def _check(config: Document) -> None:
    """The bounds of the API's model, which clients do not check."""
    policy = config["RollingUpdatePolicy"]
    rollback = config.get("AutoRollbackConfiguration") or {}
    for name, value, least, most in (
        ("WaitIntervalInSeconds", policy["WaitIntervalInSeconds"], 0, 3600),
        ("MaximumExecutionTimeoutInSeconds", policy.get("MaximumExecutionTimeoutInSeconds", 600), 600, 28800),
        ("Alarms", len(rollback.get("Alarms") or (None,)), 1, 10),
    ):
        if not least <= value <= most:
            raise InferenceRefusedError(
                f"1 validation error detected: Value '{value}' at '{name}' failed to satisfy constraint: "
                f"Member must be between {least} and {most}"
            )


def _resolved(size: Document, copies: int, settings: InferenceSettings) -> int:
    if size["Type"] == "COPY_COUNT":
        return int(size["Value"])
    exact = float(copies * size["Value"] / 100)
    return ceil(exact) if settings.percent_rounding == "up" else floor(exact)


def _batch(size: Document, copies: int, settings: InferenceSettings) -> int | None:
    """Copies in a batch, 5..50 % of them all; None: as without a DeploymentConfig."""
    if copies == 0 and settings.zero_copies == "accept":
        return 1
    if copies == 1:
        match settings.single_copy:
            case "round-up":
                return 1
            case "plain":
                return None
    percent = size["Value"] if size["Type"] == "CAPACITY_PERCENT" else 100 * size["Value"] / max(1, copies)
    number = max(1, _resolved(size, copies, settings))
    if settings.batch_rule == "clamp" and copies > 1:
        return max(1, ceil(0.05 * copies), min(number, copies // 2))
    if not 5 <= percent <= 50 or copies <= 1:
        raise InferenceRefusedError(
            f"MaximumBatchSize must be between 5% and 50% of the inference component's copy count, which is {copies}."
        )
    return number
