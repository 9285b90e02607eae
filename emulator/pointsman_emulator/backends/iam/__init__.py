"""IAM: moto's, and the answer to what a role may do."""
