"""AWS on one machine, in one process, in virtual time: moto, and what moto lacks for GPU queues."""

from pointsman_emulator.emulator import Emulator
from pointsman_emulator.faults import Faults
from pointsman_emulator.models.batch_values import BatchSettings
from pointsman_emulator.models.inference_values import InferenceSettings
from pointsman_emulator.server import EmulatorServer
from pointsman_emulator.stacks import Stack
from pointsman_emulator.wiring import WiringReport

__all__ = ["BatchSettings", "Emulator", "EmulatorServer", "Faults", "InferenceSettings", "Stack", "WiringReport"]
