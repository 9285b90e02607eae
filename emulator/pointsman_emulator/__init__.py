"""AWS on one machine, in one process, in virtual time: moto, and what moto lacks for GPU queues.

Names are imported when they are asked for: who needs a behaviour model alone does not wait for moto.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pointsman_emulator.emulator import Emulator
    from pointsman_emulator.faults import Faults
    from pointsman_emulator.models.batch_values import BatchSettings
    from pointsman_emulator.models.inference_values import InferenceSettings
    from pointsman_emulator.server import EmulatorServer
    from pointsman_emulator.stacks import Stack
    from pointsman_emulator.wiring import WiringReport

__all__ = ["BatchSettings", "Emulator", "EmulatorServer", "Faults", "InferenceSettings", "Stack", "WiringReport"]

_WHERE = {
    "BatchSettings": "models.batch_values",
    "Emulator": "emulator",
    "EmulatorServer": "server",
    "Faults": "faults",
    "InferenceSettings": "models.inference_values",
    "Stack": "stacks",
    "WiringReport": "wiring",
}


def __getattr__(name: str) -> object:
    """The public name, from where it is."""
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
