"""The page of `simulate --report`: what is in it, and that it is one page."""

import re
from dataclasses import replace

import pytest

from pointsman_cli.report import page as pages
from pointsman_cli.report.charts import frontier, looks
from pointsman_cli.report.parts import as_json
from pointsman_simulator.baselines import pools_equal
from tests.proof.hostile import MARKUP
from tests.unit.report.elements import elements
from tests.unit.report.runs import facts

PLOTS = {"frontier", "frontier-own", "waits-0", "waits-1", "waits-2", "waits-3", "use", "depth"}


def plots(html: str) -> set[str]:
    return set(re.findall(r'<div class="plot" id="([^"]+)"', html))


def test_every_plot_is_there_and_those_of_evictions_where_there_were_some() -> None:
    assert plots(pages.page(facts(evictions=True))) == PLOTS | {"evictions", "lost"}
    without = pages.page(facts(evictions=False))
    assert plots(without) == PLOTS
    assert "No run evicted a job." in without


def test_the_page_has_the_figures_the_command_and_what_they_do_not_mean() -> None:
    html = pages.page(facts(evictions=True))
    assert html.count('<tr class="own">') == 1
    assert len(re.findall(r"<tr", html.split("<tbody>")[1])) == 3 + 4
    assert "<pre>pointsman simulate --trace &#x27;a &lt;b&gt;.csv&#x27; --report page.html</pre>" in html
    assert "What these figures do not mean" in html
    assert "<h1>search &lt;training&gt;: a policy, tried</h1>" in html
    assert "2 larger than the pool are left out" in html


def test_nothing_is_left_of_the_template_and_nothing_is_fetched() -> None:
    html = pages.page(facts(evictions=False))
    shown = re.sub(r"<script.*?</script>", "", html, flags=re.DOTALL)
    assert not re.search(r"\$[a-z]", shown)
    assert not re.search(r"""(src|href)=|url\(|@import""", shown)
    assert "default-src 'none'" in html


def test_a_name_cannot_end_the_script_that_it_stands_in() -> None:
    assert as_json({"name": "</script><script>alert(1)"}) == '{"name":"\\u003c/script>\\u003cscript>alert(1)"}'


def test_each_run_has_a_look_of_its_own_and_ours_is_drawn_through() -> None:
    one = facts(evictions=True)
    look = looks(one.runs, one.own)
    assert len({(each.colour, each.symbol) for each in look.values()}) == len(one.runs)
    assert [name for name, each in look.items() if each.dash == "solid"] == [one.own]


def test_the_frontier_is_five_policies_beside_one_point_of_each_baseline() -> None:
    one = facts(evictions=True)
    among, alone = frontier(one.runs, one.frontier, "production", looks(one.runs, one.own))
    assert [len(trace["x"]) for trace in among.data] == [5, 1, 1]
    assert [trace["name"] for trace in among.data] == ["your policy", "fifo_strict", "sesf"]
    assert among.data[0]["text"] == ["", "", "your policy", "", ""]
    assert alone.data[0]["x"] == among.data[0]["x"]


def test_a_baseline_that_can_run_no_job_of_the_first_class_has_no_point_and_says_what_it_left_out() -> None:
    """Five equal pools of 8: the large jobs fit none."""
    one = facts(evictions=False)
    pools = pools_equal(one.replay)
    small = replace(pools, jobs=tuple(job for job in pools.jobs if job.job_class != "production"))
    assert small.jobs
    with_pools = replace(one, runs=(small, *one.runs))
    among, _ = frontier(with_pools.runs, one.frontier, "production", looks(with_pools.runs, one.own))
    assert [trace["name"] for trace in among.data] == ["your policy", "fifo_strict", "sesf"]
    assert f"pools_equal (without {small.submitted - len(small.jobs)} jobs that fit no pool)" in pages.page(with_pools)


@pytest.mark.parametrize("name", MARKUP)
def test_a_page_has_the_same_elements_whatever_queue_or_command_it_is_of(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plotly.offline.get_plotlyjs", lambda: "")
    whole = facts(evictions=True)
    policy = replace(whole.policy, queue=name)
    odd = pages.page(replace(whole, policy=policy, command=f"pointsman simulate --trace {name}"))
    assert elements(odd).tags == elements(pages.page(whole)).tags
    assert not elements(odd).run
