// Draws every panel of every chart with ECharts, and again when its width or the colour scheme changes. Texts of results
// are drawn as text alone, never as markup.
(function () {
"use strict";

const LIGHT = { ink: "#1a1a1a", pale: "#dcdcdc", back: "#fff", colours: ["#1261c9", "#d9580d", "#0b8f8f", "#a3134a", "#4e7a00", "#7a3fb0", "#8a6a00", "#666"] };
const DARK = { ink: "#e8e8e8", pale: "#3c3f44", back: "#16181c", colours: ["#62a8ff", "#ff9a52", "#3fd0c9", "#ff6f98", "#a9d24a", "#c9a0ff", "#e3c44c", "#b5b5b5"] };
const HEAT = ["#1b7a4b", "#8fbf5a", "#f2d25c", "#e07b39", "#9c1f3f"];
const dark = window.matchMedia("(prefers-color-scheme: dark)");

// number has three significant digits, and thousands as k and M.
function number(v) {
  const a = Math.abs(v);
  if (a >= 1e6) return +(v / 1e6).toPrecision(3) + "M";
  if (a >= 1e4) return +(v / 1e3).toPrecision(3) + "k";
  return String(+v.toPrecision(3));
}

// colour is that of a name within a chart.
const colour = (chart, name, theme) => theme.colours[[...new Set(chart.panels.flatMap((p) => p.series.map((s) => s.name)))].indexOf(name) % theme.colours.length];
const clip = (text, n) => text.length > n ? text.slice(0, n - 1) + "…" : text;
const told = (p) => number(p[1]) + (p[3] > p[2] ? " [" + number(p[2]) + " to " + number(p[3]) + "]" : "");

// interval draws the intervals of points as lines along the axis of values, and at the end of lying ones the values.
function interval(points, lying, theme) {
  return { type: "custom", silent: true, z: 3, tooltip: { show: false }, data: points.filter((p) => lying || p[3] > p[2]),
    encode: lying ? { x: [2, 3], y: 0 } : { x: 0, y: [2, 3] },
    renderItem(params, api) {
      const at = (v) => api.coord(lying ? [v, api.value(0)] : [api.value(0), v]), a = at(api.value(2)), b = at(api.value(3));
      const line = { type: "line", shape: { x1: a[0], y1: a[1], x2: b[0], y2: b[1] }, style: { stroke: theme.ink, lineWidth: 1.2 } };
      const text = { type: "text", x: b[0] + 6, y: b[1], style: { text: number(api.value(1)), fill: theme.ink, fontSize: 11, verticalAlign: "middle" } };
      return { type: "group", children: lying ? [line, text] : [line] };
    } };
}

const KINDS = {
  bars(chart, panel, theme, width) {
    const points = panel.series[0].points, data = points.map((p) => [p[0], p[1], p[2], p[3]]);
    return { height: 62 + 26 * panel.categories.length,
      xAxis: { type: "value", name: chart.x, splitNumber: 4 },
      yAxis: { type: "category", data: panel.categories.map((c) => clip(c, width < 450 ? 18 : 30)), inverse: true, axisTick: { show: false }, axisLabel: { interval: 0 } },
      right: 70,
      tooltip: { formatter: (p) => panel.categories[p.dataIndex] + ": " + told(points[p.dataIndex]) },
      series: [{ type: "bar", data, encode: { x: 1, y: 0 }, barMaxWidth: 18, itemStyle: { color: (p) => theme.colours[panel.categories[p.dataIndex].startsWith("penstock") ? 0 : 1] } }, interval(data, true, theme)] };
  },
  lines(chart, panel, theme, width) {
    const x = panel.categories ? { type: "category", data: panel.categories, boundaryGap: false } : { type: "value", min: "dataMin", max: "dataMax", axisLabel: { showMaxLabel: false } };
    let rows = 1, used = 0; // of the legend
    for (const s of panel.series) {
      const w = 40 + 7 * s.name.length;
      if (used > 0 && used + w > .92 * width) { rows++; used = 0; }
      used += w;
    }
    return { height: 240 + 24 * rows, top: 12 + 24 * rows,
      legend: { type: "plain", top: 0, left: 0, width: "96%", itemWidth: 18, textStyle: { color: theme.ink, fontSize: 11 } },
      xAxis: { ...x, name: chart.x }, yAxis: { type: "value", name: chart.y, min: 0, splitNumber: 4 },
      tooltip: { trigger: "axis", formatter: (points) => {
        const at = points[0].value[0];
        return [chart.x + " " + (panel.categories ? panel.categories[at] : number(at))].concat(points.filter((p) => p.seriesType === "line").map((p) => p.seriesName + ": " + told(p.value))).join("\n");
      } },
      series: panel.series.flatMap((s, i) => [{ type: "line", name: s.name, data: s.points, encode: { x: 0, y: 1 }, showAllSymbol: true, symbolSize: s.points.length > 30 ? 3 : 6,
        symbol: ["circle", "rect", "triangle", "diamond"][i % 4], color: colour(chart, s.name, theme) }, interval(s.points, false, theme)]) };
  },
  heat(chart, panel, theme) {
    const found = new Map(panel.series[0].points.map((p) => [p[0] + "," + p[1], p[2]])), least = Math.min(...found.values());
    const data = panel.rows.flatMap((_, r) => panel.categories.map((_, c) => {
      const v = found.get(c + "," + r);
      const at = Math.sqrt(Math.min(v, 100) / 100) * (HEAT.length - 1), best = v === least;
      return { value: [c, r, v === undefined ? -1 : v], itemStyle: { color: v === undefined ? theme.pale : HEAT[Math.round(at)], borderColor: best ? theme.ink : theme.back, borderWidth: best ? 2 : 1 },
        label: { color: v === undefined ? theme.ink : at > .5 && at < 2.5 ? "#1a1a1a" : "#fff", fontWeight: best ? "bold" : "normal" } };
    }));
    return { height: 70 + 26 * panel.rows.length,
      xAxis: { type: "category", data: panel.categories, name: chart.x, axisTick: { show: false } },
      yAxis: { type: "category", data: panel.rows, name: chart.y, axisTick: { show: false }, axisLabel: { interval: 0 } },
      tooltip: { formatter: (p) => "batch " + panel.categories[p.value[0]] + ", workers " + panel.rows[p.value[1]] + ": " + (p.value[2] < 0 ? "not run" : number(p.value[2]) + " %") },
      series: [{ type: "custom", data, encode: { x: 0, y: 1 }, renderItem(params, api) {
        const d = data[params.dataIndex], at = api.coord([d.value[0], d.value[1]]), size = api.size([1, 1]);
        return { type: "group", children: [
          { type: "rect", shape: { x: at[0] - size[0] / 2 + 1, y: at[1] - size[1] / 2 + 1, width: size[0] - 2, height: size[1] - 2 },
            style: { fill: d.itemStyle.color, stroke: d.itemStyle.borderColor, lineWidth: d.itemStyle.borderWidth } },
          { type: "text", x: at[0], y: at[1], style: { text: d.value[2] < 0 ? "–" : number(+d.value[2].toFixed(1)), fill: d.label.color, fontSize: 11, fontWeight: d.label.fontWeight, align: "center", verticalAlign: "middle" } }] };
      } }] };
  },
};

// axis adds to an axis what all of them have.
function axis(a, theme, upright) {
  const text = { color: theme.ink, fontSize: 11 };
  return { nameLocation: "middle", nameGap: upright ? 44 : 28, nameTextStyle: text, axisLine: { show: true, lineStyle: { color: theme.ink }, onZero: false },
    splitLine: { show: a.type === "value", lineStyle: { color: theme.pale } }, ...a, axisLabel: { ...text, hideOverlap: true, ...(a.type === "value" ? { formatter: number } : {}), ...a.axisLabel } };
}

function option(chart, panel, width) {
  const theme = dark.matches ? DARK : LIGHT;
  const o = KINDS[chart.kind](chart, panel, theme, width);
  const letters = chart.kind === "bars" ? Math.max(...o.yAxis.data.map((c) => c.length)) : 0;
  return { animation: false, backgroundColor: theme.back, textStyle: { color: theme.ink, fontFamily: "system-ui, 'Liberation Sans', Arial, sans-serif" },
    grid: { left: letters ? 14 + 6.9 * letters : 60, right: o.right || 18, top: o.top || 10, bottom: 46, outerBoundsMode: "none" },
    legend: o.legend, series: o.series, height: o.height, xAxis: axis(o.xAxis, theme, false), yAxis: axis(o.yAxis, theme, !letters),
    tooltip: { renderMode: "richText", confine: true, backgroundColor: theme.back, borderColor: theme.ink, textStyle: { color: theme.ink, fontSize: 12 }, ...o.tooltip } };
}

for (const chart of JSON.parse(document.getElementById("data").textContent) || []) {
  const panels = document.querySelector("#" + chart.id + " .panels");
  for (const panel of chart.panels) {
    const outer = document.createElement("div"), head = document.createElement("h3"), box = document.createElement("div");
    head.textContent = panel.title;
    outer.append(head, box);
    panels.append(outer);
    let instance = null, width = 0;
    const paint = () => {
      width = box.clientWidth;
      if (width === 0) return;
      const { height, ...rest } = option(chart, panel, width);
      box.style.height = height + "px";
      if (instance) instance.resize();
      else instance = echarts.init(box, null, { renderer: "svg" });
      instance.setOption(rest, true);
    };
    paint();
    dark.addEventListener("change", paint);
    new ResizeObserver(() => { if (box.clientWidth !== width) paint(); }).observe(outer);
  }
}

// A click on the head of a column sorts the table by it: numbers from the greatest on, then texts.
const worth = (text) => parseFloat(text) * (/^[\d.]+k/.test(text) ? 1e3 : /^[\d.]+M/.test(text) ? 1e6 : 1);
for (const button of document.querySelectorAll("th button")) {
  button.addEventListener("click", () => {
    const head = button.parentElement, body = head.closest("table").tBodies[0], text = (row) => row.cells[head.cellIndex].textContent;
    const rows = [...body.rows].sort((a, b) => {
      const x = worth(text(a)), y = worth(text(b));
      return isNaN(x) && isNaN(y) ? text(a).localeCompare(text(b)) : isNaN(x) ? 1 : isNaN(y) ? -1 : y - x;
    });
    body.append(...rows);
    for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", isNaN(worth(text(rows[0]))) ? "ascending" : "descending");
  });
}
document.documentElement.dataset.ready = "yes";
})();
