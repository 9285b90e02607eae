"""The pure core of the queue loop: frozen values in, a decision out; standard library only."""
