"""Hosts' use of their GPUs, from the emulator's CloudWatch and from answers of ours."""

from typing import Any

import pytest

from pointsman.aws.gpu_series import CloudWatchGpuSeries
from pointsman.errors import Transient
from pointsman_emulator import Emulator
from tests.contract.answers import T0, Client, refuses


def test_a_host_s_last_minutes_are_averaged_and_silent_hosts_are_left_out() -> None:
    with Emulator(seed=1) as aws:
        for percent in (100.0, 300.0):
            aws.put_metric("/aws/sagemaker/TrainingJobs", "GPUUtilization", percent, Host="AWSBatcha0f/algo-1")
            aws.run_for(60)
        aws.put_metric("/aws/sagemaker/TrainingJobs", "GPUUtilization", 800.0, Host="AWSBatchb0f/algo-1")
        aws.run_for(120)
        series = CloudWatchGpuSeries(aws.client("cloudwatch"))
        hosts = ["AWSBatcha0f/algo-1", "AWSBatchb0f/algo-1", "AWSBatchc0f/algo-1"]
        assert series.latest(hosts, aws.now) == {"AWSBatcha0f/algo-1": 200.0}, "the last minutes are not whole yet"
        aws.run_for(60)
        assert series.latest(hosts, aws.now) == {"AWSBatcha0f/algo-1": 200.0, "AWSBatchb0f/algo-1": 800.0}


def test_hosts_are_asked_for_by_five_hundred_and_page_after_page() -> None:
    asked: list[int] = []

    def data(**request: Any) -> dict[str, Any]:
        queries = request["MetricDataQueries"]
        first = "NextToken" not in request
        asked.append(len(queries))
        told = queries[0] if first else queries[-1]
        page = {"MetricDataResults": [{"Id": told["Id"], "Values": [50.0]}]}
        return {**page, **({"NextToken": "t"} if first else {})}

    series = CloudWatchGpuSeries(Client(get_metric_data=data))
    hosts = [f"h{n}" for n in range(501)]
    assert series.latest(hosts, T0) == dict.fromkeys(("h0", "h499", "h500"), 50.0)
    assert asked == [500, 500, 1, 1]


def test_a_throttled_call_is_for_later() -> None:
    with pytest.raises(Transient):
        CloudWatchGpuSeries(Client(get_metric_data=refuses("Throttling"))).latest(["h"], T0)
