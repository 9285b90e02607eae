"""How busy a queue's GPUs are: its running jobs joined with what their hosts say."""

from dataclasses import dataclass, replace

from pointsman.errors import Misconfigured, Transient
from pointsman.gpu_ports import GpuSeries
from pointsman.loops.observe import Observation
from pointsman.ports import QueueRecord
from pointsman.queues.gpu_use import GpuUse, gpu_use
from pointsman.queues.kinds import QueueKind

EVERY = 300.0  # seconds: each host is one metric that is paid for each time
HOSTS = 500  # that one look asks for, at most; the others count as unmeasured


@dataclass(frozen=True, slots=True)
class GpuGauge:
    """Measures the use of GPUs of queues."""

    series: GpuSeries

    def measure(self, seen: Observation, record: QueueRecord) -> tuple[QueueRecord, GpuUse | None, str]:
        """The record with when it was measured, the use if it was time to look, and what is wrong with looking.

        A look that fails does not fail the pass: it is made again with the next one.
        """
        view = seen.view
        if seen.description.kind is QueueKind.CONTAINER or abs(view.now - record.gauged) < EVERY:
            return record, None, ""
        hosts: dict[str, str] = {}
        for job in view.busy:
            training = seen.records[job.job_id].training if job.job_id in seen.records else ""
            if training and job.started is not None and job.gpus > 0:
                hosts |= {f"{training}/algo-{number + 1}": job.job_id for number in range(job.size)}
        try:
            told = self.series.latest(list(hosts)[:HOSTS], view.now) if hosts else {}
        except Transient:
            return record, None, ""
        except Misconfigured as error:
            return replace(record, gauged=view.now), None, f"the use of GPUs cannot be read: {error}"
        readings: dict[str, list[float]] = {}
        for host, use in told.items():
            readings.setdefault(hosts[host], []).append(use)
        idle = max(0, view.capacity - view.used)
        return replace(record, gauged=view.now), gpu_use(view.busy, readings, idle), ""
