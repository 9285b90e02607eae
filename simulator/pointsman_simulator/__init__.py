"""What-if: a queue replayed under a policy, with the decisions of production."""
