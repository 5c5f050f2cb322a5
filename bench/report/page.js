// Draws the charts into the page when they come into view, and again when the page's width or its
// colour scheme changes.
(function () {
"use strict";

const charts = JSON.parse(document.getElementById("data").textContent) || [];
const dark = window.matchMedia("(prefers-color-scheme: dark)");

function place(chart) {
  const figure = document.getElementById(chart.id), box = figure.querySelector(".plot"), views = penstockViews(chart);
  let view = views[0], instance = null, width = 0;
  if (views.length > 1) {
    const select = document.createElement("select");
    select.setAttribute("aria-label", "what is shown");
    for (const v of views) select.append(new Option(v, v));
    select.addEventListener("change", () => { view = select.value; paint(); });
    box.before(select);
  }
  function paint() {
    width = box.clientWidth;
    if (width === 0) return; // folded away
    const { option, height } = penstockDraw(chart, width, dark.matches, { view });
    box.style.height = height + "px";
    if (instance) instance.resize();
    else instance = echarts.init(box, null, { renderer: "svg" });
    instance.setOption(option, true);
  }
  paint();
  dark.addEventListener("change", paint);
  new ResizeObserver(() => { if (box.clientWidth !== width) paint(); }).observe(figure);
}

charts.forEach(place);
document.documentElement.dataset.ready = "yes";
})();
