"""The loops: load, decide, act, record. They take their ports as arguments."""
