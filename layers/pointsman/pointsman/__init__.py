"""Pointsman: every rule of the product, shipped to Lambda as a layer."""
