"""Lambda: moto keeps the functions, and an invocation runs the product's own handler."""
