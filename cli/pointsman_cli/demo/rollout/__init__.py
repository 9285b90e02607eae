"""Rollouts to try without an AWS account: a small world, a request, and what comes of it."""
