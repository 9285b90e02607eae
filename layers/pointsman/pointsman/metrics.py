"""Metrics in embedded metric format: printed, and so never a reason for a loop to fail."""

from collections.abc import Mapping

from aws_lambda_powertools.metrics import EphemeralMetrics, MetricUnit


def measure(dimensions: Mapping[str, str], values: Mapping[str, float], unit: MetricUnit = MetricUnit.Count) -> None:
    """Put these metrics; without dimensions they are the deployment's, under its stack's name as `service`.

    An id or a reason is never a dimension: each value of one is a metric that is paid for.
    """
    metrics = EphemeralMetrics(service="") if dimensions else EphemeralMetrics()
    for name, text in dimensions.items():
        metrics.add_dimension(name, text)
    for metric, value in values.items():
        metrics.add_metric(metric, unit, value)
    metrics.flush_metrics()
