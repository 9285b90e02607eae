"""EventBridge: moto keeps buses, rules and targets; the bus of the emulator matches and delivers."""
