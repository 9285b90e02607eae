"""Step Functions: moto's engine in virtual time, for the states that our state machine has."""
