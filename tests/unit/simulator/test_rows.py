"""The rows of the page on benchmarks: each is played from the files that it names."""

import sys
from pathlib import Path

import pytest

from bench import traces

HOUR = 3600
LINES = "".join(
    f"{2_381_359 + n * 60},{HOUR},{1 + n % 8},a,{('production', 'research', 'sweep')[n % 3]}\n" for n in range(30)
)


def test_a_row_is_played_over_its_seeds_and_printed_with_the_worst_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "philly_jobs.csv").write_text(f"submit_s,duration_s,gpus,vc,derived_class\n{LINES}")
    asked = ["--traces", str(tmp_path), "--rows", "philly-640", "--runs", "fifo_strict,pointsman", "--seeds", "2"]
    monkeypatch.setattr(sys, "argv", ["bench.traces", *asked])
    traces.main()
    _, _, alone, steered = capsys.readouterr().out.strip().splitlines()
    assert alone.startswith("| philly-640 | fifo_strict | 0.00 | 0.00 | 0.00 | 0.00 |")
    assert steered.startswith("| philly-640 | pointsman |")
    assert "(" in steered


def test_of_a_file_of_several_clusters_one_is_kept(tmp_path: Path) -> None:
    source = tmp_path / "itp_jobs.csv"
    source.write_text("submit_s,cluster\n1,c01\n2,c02\n")
    assert traces.one_cluster(source, "c02", tmp_path).read_text().split() == ["submit_s,cluster", "2,c02"]
