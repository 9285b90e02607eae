(() => {
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  const themed = (layout) => {
    const ink = colour("--ink"), line = colour("--line"), soft = colour("--soft");
    const axis = (own) => ({
      gridcolor: line, zerolinecolor: line, linecolor: line, tickcolor: line, automargin: true, ...own,
      title: { standoff: 8, font: { size: 13, color: soft }, ...own.title },
    });
    return {
      margin: { l: 60, r: 24, t: 12, b: 48 },
      showlegend: false,
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: getComputedStyle(document.body).fontFamily, size: 13, color: ink },
      hoverlabel: { bgcolor: colour("--panel"), bordercolor: line, font: { color: ink } },
      ...layout,
      xaxis: axis(layout.xaxis),
      yaxis: axis(layout.yaxis),
    };
  };
  const draw = () => Promise.all(Object.entries(figures).map(([key, figure]) =>
    Plotly.react(document.getElementById(key), figure.data, themed(figure.layout), { responsive: true, displaylogo: false,
      displayModeBar: false })));
  dark.addEventListener("change", draw);
  draw().then(() => { document.documentElement.dataset.drawn = Object.keys(figures).length; });
})();
