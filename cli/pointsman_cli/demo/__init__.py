"""The demo: a day of a busy queue on the embedded AWS, played through the deployed template's own handlers."""
