"""Rollouts, pure: what to do next with a fleet of inference components, given what is known. Standard library only."""
