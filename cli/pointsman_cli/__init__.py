"""The command of an operator: `pointsman`."""
