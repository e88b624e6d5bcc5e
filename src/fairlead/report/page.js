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

  // Numbers that would run into one another are left to the pointer and to the table.
  function fitting(figure, plot) {
    return figure.data.map((trace) => {
      const room = trace.texttemplate && (plot.clientWidth - 90) / trace.x.length;
      return room && room < 36 ? { ...trace, texttemplate: "" } : trace;
    });
  }

  const config = { responsive: true, displayModeBar: false };

  // With its own coordinates a drawing can be scaled by the style sheet, which print needs.
  function makeScalable(plot) {
    const { width, height } = plot._fullLayout;
    plot.style.setProperty("--drawn", `${width} / ${height}`);
    plot.querySelectorAll(".main-svg").forEach((drawing) => {
      drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
    });
  }

  function draw(method) {
    figures.forEach(async (figure, number) => {
      const plot = document.getElementById(`chart-${number}`);
      await Plotly[method](plot, fitting(figure, plot), themed(figure), config);
      makeScalable(plot);
      if (method === "newPlot") plot.on("plotly_afterplot", () => makeScalable(plot));
    });
  }

  draw("newPlot");
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => draw("react"));
})();
