"""How often the demo delivers each event."""

import click


class Multiple(click.ParamType[float]):
    """How often each event is delivered: `0%`, `100%`, `300%`."""

    name = "percentage"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """As a factor."""
        text = str(value)
        try:
            factor = float(text.removesuffix("%")) / 100 if text.endswith("%") else None
        except ValueError:
            factor = None
        if factor is None:
            self.fail(f"{value!r} is not a percentage; write 0%, 100% or 300%", param, ctx)
        if not 0 <= factor <= 10:
            self.fail(f"{value} is not between 0% and 1000%", param, ctx)
        return factor
