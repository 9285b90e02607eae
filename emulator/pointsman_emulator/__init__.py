"""AWS on one machine, in one process, in virtual time: moto, and what moto lacks for GPU queues."""
