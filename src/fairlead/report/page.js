// SPDX-License-Identifier: Apache-2.0
// Draws the charts of the report in the reader's light or dark colours.
"use strict";
(() => {
  const figures = JSON.parse(document.getElementById("charts").textContent);
  const color = (name) =>
    getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  function themed(figure) {
    const isHeatmap = figure.data[0].type === "heatmap";
    const axis = { gridcolor: color("--grid"), zerolinecolor: color("--grid"),
                   linecolor: color("--line"), tickcolor: color("--line") };
    const layout = { ...figure.layout, autosize: true, hovermode: "closest",
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: isHeatmap ? color("--void") : "rgba(0,0,0,0)",
      font: { family: getComputedStyle(document.body).fontFamily, size: 12, color: color("--ink") } };
    for (const side of ["xaxis", "yaxis"]) {
      layout[side] = { ...axis, ...figure.layout[side] };
    }
    return layout;
  }

  const config = { responsive: true, displayModeBar: false };

  function draw(method) {
    figures.forEach((figure, number) => {
      Plotly[method](`chart-${number}`, figure.data, themed(figure), config);
    });
  }

  draw("newPlot");
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => draw("react"));
})();
