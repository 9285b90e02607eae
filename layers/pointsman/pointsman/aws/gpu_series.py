"""The use of GPUs by the hosts of training jobs, as SageMaker puts it into CloudWatch."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from pointsman.aws.alarms import pages
from pointsman.aws.unreadable import understood

NAMESPACE, METRIC, HOST = "/aws/sagemaker/TrainingJobs", "GPUUtilization", "Host"
QUERIES = 500  # that one GetMetricData takes
PERIOD = 300  # seconds; a host says one figure a minute
LATE = 120.0  # seconds until a minute's figure can be read


class CloudWatchGpuSeries:
    """Series of one account and region. Each host that is asked for is one metric that CloudWatch charges for."""

    def __init__(self, cloudwatch: Any) -> None:
        """Use this client."""
        self._cloudwatch = cloudwatch

    @understood
    def latest(self, hosts: Sequence[str], now: float) -> Mapping[str, float]:
        """Each host's use in the last minutes, per cent summed over its GPUs; a host that said nothing is left out."""
        end = (now - LATE) // 60 * 60
        found: dict[str, float] = {}
        for start in range(0, len(hosts), QUERIES):
            some = hosts[start : start + QUERIES]
            request = {
                "MetricDataQueries": [{"Id": f"m{n}", "MetricStat": _stat(host)} for n, host in enumerate(some)],
                "StartTime": datetime.fromtimestamp(end - PERIOD, UTC),
                "EndTime": datetime.fromtimestamp(end, UTC),
            }
            for page in pages(self._cloudwatch.get_metric_data, request):
                for told in page["MetricDataResults"]:
                    if told["Values"]:
                        found[some[int(told["Id"][1:])]] = sum(told["Values"]) / len(told["Values"])
        return found


def _stat(host: str) -> dict[str, Any]:
    dimensions = [{"Name": HOST, "Value": host}]
    return {
        "Metric": {"Namespace": NAMESPACE, "MetricName": METRIC, "Dimensions": dimensions},
        "Period": 60,
        "Stat": "Average",
    }
