"""The ports on AWS: the only door to it. Nothing here is a rule of the product, and no client is made at import."""
