// Draws charts with ECharts: in the page, and without a browser as SVG. Go makes
// the charts, see chart.go. Texts are drawn as text alone, never as markup.
(function () {
"use strict";

const LIGHT = { ink: "#1a1a1a", pale: "#dcdcdc", back: "#ffffff",
  sides: ["#1261c9", "#0b8f8f", "#d9580d", "#a3134a", "#4e7a00", "#7a3fb0", "#8a6a00", "#666666", "#6e3b1c", "#d0489c"] };
const DARK = { ink: "#e8e8e8", pale: "#3c3f44", back: "#16181c",
  sides: ["#62a8ff", "#3fd0c9", "#ff9a52", "#ff6f98", "#a9d24a", "#c9a0ff", "#e3c44c", "#b5b5b5", "#cf9c78", "#ff9ce0"] };
const HEAT = [[0x1b, 0x7a, 0x4b], [0x8f, 0xbf, 0x5a], [0xf2, 0xd2, 0x5c], [0xe0, 0x7b, 0x39], [0x9c, 0x1f, 0x3f]];
const DASHES = ["solid", [7, 4], [2, 3], [10, 3, 2, 3], [4, 2]];
const MARKS = ["circle", "rect", "triangle", "diamond", "emptyCircle"];
const FACE = "system-ui, 'Liberation Sans', Arial, sans-serif";
const SMALL = 11, LETTER = 6.2; // a letter's width at that size, by an estimate

const unique = (list) => [...new Set(list)];
const flat = (lists) => [].concat(...lists);

// number has three significant digits, or more before the point.
function number(v) {
  const a = Math.abs(v);
  if (a === 0) return "0";
  if (a >= 99.95) return v.toFixed(0);
  if (a >= 9.995) return v.toFixed(1);
  if (a >= .9995) return v.toFixed(2);
  return String(+v.toPrecision(3));
}

// short is for axes and bars, where room is scarce.
function short(v) {
  const a = Math.abs(v);
  if (a >= 1e6) return +(v / 1e6).toPrecision(3) + "M";
  if (a >= 1e4) return +(v / 1e3).toPrecision(3) + "k";
  if (a >= 100) return v.toFixed(0);
  return String(+v.toPrecision(a >= 10 ? 3 : 2));
}

// ticks is a round step, and the end of the axis on it.
function ticks(top) {
  if (!(top > 0)) return { step: 1, end: 1 };
  let step = Math.pow(10, Math.floor(Math.log10(top / 3)));
  for (const f of [5, 2]) {
    if (top / (step * f) >= 2.5) { step *= f; break; }
  }
  return { step, end: Math.ceil(top / step - 1e-9) * step };
}

function wrap(text, letters) {
  const found = [];
  let line = "";
  for (const word of text.split(/\s+/)) {
    if (line && (line + " " + word).length > letters) { found.push(line); line = ""; }
    line = line ? line + " " + word : word;
  }
  return found.concat(line);
}

// A page of a chart: where its parts lie, from top to bottom.
function layout(chart, width, theme, titled) {
  const l = { chart, width, theme, y: 6, titles: [], grids: [], xs: [], ys: [], series: [], legend: undefined };
  if (titled) {
    for (const [text, size, weight] of [[chart.title, 15, "bold"], [chart.subtitle || "", SMALL, "normal"]]) {
      if (!text) continue;
      const lines = wrap(text, width / (size * .56));
      l.titles.push({ text: lines.join("\n"), left: 8, top: l.y, padding: 0, textStyle: { color: theme.ink, fontSize: size, fontWeight: weight, lineHeight: size * 1.35 } });
      l.y += lines.length * size * 1.35 + 3;
    }
    l.y += 4;
  }
  return l;
}

// legend has the names of dashes in ink, or of sides in their colours.
function legend(l, names, coloured) {
  const swatch = coloured ? 16 : 34, gap = 22; // the gap is between rows, too
  const spare = 90; // for fonts that are wider than expected
  let rows = 1, used = 0;
  for (const name of names) {
    const w = swatch + 5 + LETTER * name.length + gap;
    if (used > 0 && used + w > l.width - spare) { rows++; used = 0; }
    used += w;
  }
  l.legend = { data: names, top: l.y, left: 4, right: spare - 12, padding: 0, itemWidth: swatch, itemHeight: 10, itemGap: gap, icon: coloured ? "rect" : undefined,
    textStyle: { color: l.theme.ink, fontSize: SMALL }, inactiveColor: l.theme.pale };
  if (!coloured) Object.assign(l.legend, { lineStyle: { color: l.theme.ink }, itemStyle: { color: l.theme.ink } });
  l.y += rows * (10 + gap) + 4;
}

// grid adds a panel's title, if it has one, and its axes.
function grid(l, panel, height, left, x, y, below) {
  if (panel.title) {
    const title = panel.title.length * LETTER * 1.2 > l.width - 16 ? panel.title.slice(0, Math.floor((l.width - 30) / LETTER / 1.2)) + "…" : panel.title;
    l.titles.push({ text: title, left: 8, top: l.y, padding: 0, textStyle: { color: l.theme.sides[panel.colour], fontSize: 12.5, fontWeight: "bold" } });
    l.y += 22;
  } else l.y += 6;
  const i = l.grids.length, ink = l.theme.ink, text = { color: ink, fontSize: SMALL };
  const line = { show: true, lineStyle: { color: ink } };
  l.grids.push({ left, right: 14, top: l.y, height, outerBoundsMode: "none" });
  l.xs.push(Object.assign({ gridIndex: i, axisLine: { ...line, onZero: false }, axisTick: { lineStyle: { color: ink } }, splitLine: { show: false },
    nameLocation: "middle", nameTextStyle: text }, x, { axisLabel: { ...text, hideOverlap: true, ...(x.axisLabel || {}) } }));
  l.ys.push(Object.assign({ gridIndex: i, axisLine: line, splitLine: { lineStyle: { color: l.theme.pale } }, nameLocation: "middle", nameTextStyle: text },
    y, { axisLabel: { ...text, ...(y.axisLabel || {}) } }));
  l.y += height + below;
  return i;
}

function finish(l, tooltip) {
  const ink = l.theme.ink;
  return {
    height: Math.ceil(l.y),
    option: {
      animation: false, backgroundColor: l.theme.back, textStyle: { color: ink, fontSize: SMALL, fontFamily: FACE },
      title: l.titles, legend: l.legend, grid: l.grids, xAxis: l.xs, yAxis: l.ys, series: l.series,
      tooltip: Object.assign({ renderMode: "richText", confine: true, backgroundColor: l.theme.back, borderColor: ink, textStyle: { color: ink, fontSize: 12 } }, tooltip),
    },
  };
}

const interval = (lo, hi) => hi > lo ? " [" + number(lo) + " to " + number(hi) + "]" : "";

// strokes are segments with an outline, to be seen on bars too.
function strokes(theme, segments) {
  return flat([[theme.back, 3], [theme.ink, 1]].map(([stroke, lineWidth]) => segments.map(
    ([x1, y1, x2, y2]) => ({ type: "line", shape: { x1, y1, x2, y2 }, style: { stroke, lineWidth, fill: null } }))));
}

function lines(l) {
  const { chart, theme } = l;
  const all = flat(chart.panels.map((p) => p.series)).filter((s) => s.x.length);
  legend(l, unique(all.map((s) => s.name)), false);
  const ys = flat(all.map((s) => s.hi || s.y)), xs = flat(all.map((s) => s.x));
  const tall = ticks(ys.reduce((m, v) => Math.max(m, v), 0));
  const least = xs.reduce((m, v) => Math.min(m, v), Infinity), high = xs.reduce((m, v) => Math.max(m, v), -Infinity);
  const low = !chart.x.log && least < high / 10 ? 0 : least;
  const y = chart.y.log
    ? { type: "log", min: (e) => Math.pow(10, Math.floor(Math.log10(e.min))), max: (e) => Math.pow(10, Math.ceil(Math.log10(e.max))) }
    : { type: "value", min: 0, max: tall.end, interval: tall.step };
  chart.panels.forEach((panel, k) => {
    const last = k === chart.panels.length - 1;
    const i = grid(l, panel, 130, 56,
      { type: "value", min: low, max: high > low ? high : low + 1, minInterval: chart.x.log ? 1 : 0, interval: chart.x.log ? 1 : undefined,
        name: last ? chart.x.name : "", nameGap: 26, axisLabel: { formatter: chart.x.log ? (v) => String(Math.pow(2, v)) : short, showMaxLabel: null } },
      Object.assign({}, y, { name: chart.y.name, nameGap: 40, axisLabel: { formatter: short } }), last ? 46 : 30);
    for (const s of panel.series) {
      const every = Math.max(1, Math.floor(s.x.length / (l.width < 600 ? 6 : 12)));
      const points = s.x.map((x, j) => [x, s.y[j], s.lo ? s.lo[j] : s.y[j], s.hi ? s.hi[j] : s.y[j]]);
      l.series.push({ type: "line", name: s.name, xAxisIndex: i, yAxisIndex: i, data: points, symbol: MARKS[s.dash % MARKS.length],
        symbolSize: (_, p) => p.dataIndex % every === 0 ? 6 : 0, showAllSymbol: true,
        lineStyle: { type: DASHES[s.dash % DASHES.length], color: theme.sides[s.colour], width: 1.8 }, itemStyle: { color: theme.sides[s.colour] } });
      if (s.lo) l.series.push({ type: "custom", name: s.name, silent: true, z: 3, xAxisIndex: i, yAxisIndex: i, data: points.filter((p) => p[3] > p[2]), tooltip: { show: false },
        itemStyle: { color: theme.sides[s.colour] },
        renderItem(params, api) {
          const a = api.coord([api.value(0), api.value(2)]), b = api.coord([api.value(0), api.value(3)]);
          return { type: "group", children: strokes(theme, [[a[0], a[1], a[0], b[1]]]) };
        } });
    }
  });
  return finish(l, { trigger: "axis", axisPointer: { lineStyle: { color: theme.ink } },
    formatter: (points) => {
      const x = points[0].value[0], head = chart.x.name + " " + (chart.x.log ? Math.pow(2, x) : number(x));
      return [head].concat(points.filter((p) => p.seriesType === "line").map((p) => p.seriesName + ": " + number(p.value[1]) + interval(p.value[2], p.value[3]))).join("\n") + "\n" + chart.y.name;
    } });
}

// bar draws a bar with its interval and, where it fits, its value.
function bar(theme, colour, from, to, width, lo, hi, text, mode) {
  const lying = mode === "lying", [x0, y0] = from, [x1, y1] = to; // along the bar's middle
  const shape = lying ? { x: x0, y: y0 - width / 2, width: Math.max(x1 - x0, .5), height: width } : { x: x0 - width / 2, y: y1, width, height: Math.max(y0 - y1, .5) };
  const children = [{ type: "rect", shape, style: { fill: colour } }];
  const segments = !lo ? [] : lying ? [[lo[0], y0, hi[0], y0]] : [[x0, lo[1], x0, hi[1]]];
  children.push(...strokes(theme, segments));
  const end = lying ? Math.max(x1, hi ? hi[0] : x1) + 4 : Math.min(y1, hi ? hi[1] : y1) - 4;
  const style = { text, fill: theme.ink, fontSize: 10, fontFamily: FACE };
  if (mode === "flat") children.push({ type: "text", x: x0, y: end, style: { ...style, align: "center", verticalAlign: "bottom" } });
  if (mode === "upright") children.push({ type: "text", x: x0, y: end, rotation: Math.PI / 2, style: { ...style, align: "left", verticalAlign: "middle" } });
  if (lying) children.push({ type: "text", x: end, y: y0, style: { ...style, align: "left", verticalAlign: "middle" } });
  return { type: "group", children };
}

function bars(l) {
  const { chart, theme, width } = l, left = 56, height = 130;
  const several = chart.panels.some((p) => p.series.length > 1);
  if (several || !chart.panels[0].title) legend(l, unique(flat(chart.panels.map((p) => p.series.map((s) => s.name)))), true);
  const most = Math.max(...chart.panels.map((p) => p.series.length));
  const thick = (width - left - 14) / chart.categories.length * (most > 1 ? .84 : .8) / most;
  const all = flat(chart.panels.map((p) => p.series)), letters = Math.max(...flat(all.map((s) => s.y.map((v) => short(v).length))));
  const mode = thick >= letters * 6 + 2 ? "flat" : thick >= 9 ? "upright" : "none";
  const room = mode === "flat" ? 16 : mode === "upright" ? letters * 6 + 8 : 4;
  const top = flat(all.map((s) => s.y.map((v, j) => Math.max(v, s.hi[j])))).reduce((m, v) => Math.max(m, v), 0);
  const tall = ticks(top * height / (height - room));
  const grouped = (chart.groups || []).length > 1;
  chart.panels.forEach((panel, k) => {
    const last = k === chart.panels.length - 1;
    const i = grid(l, panel, height, left,
      { type: "category", data: chart.categories.map((c, j) => ({ value: j + ":" + c })), axisTick: { show: false }, name: last ? chart.x.name : "", nameGap: grouped ? 40 : 24,
        axisLabel: { interval: 0, hideOverlap: true, formatter: (v) => v.slice(v.indexOf(":") + 1) } },
      { type: "value", min: 0, max: tall.end, interval: tall.step, name: chart.y.name, nameGap: 42, axisLabel: { formatter: short } }, (last ? 44 : 26) + (grouped ? 16 : 0));
    panel.series.forEach((s, n) => {
      const colour = theme.sides[s.colour];
      l.series.push({ type: "custom", name: s.name, xAxisIndex: i, yAxisIndex: i, itemStyle: { color: colour }, encode: { x: 0, y: 1 },
        data: s.x.map((x, j) => [x, s.y[j], s.lo[j], s.hi[j]]),
        renderItem(params, api) {
          const shift = (n - (panel.series.length - 1) / 2) * thick;
          const at = (v) => { const p = api.coord([api.value(0), v]); return [p[0] + shift, p[1]]; };
          const lo = api.value(2), hi = api.value(3);
          return bar(theme, colour, at(0), at(api.value(1)), Math.max(thick - 1, 1), hi > lo && at(lo), hi > lo && at(hi), short(api.value(1)), mode);
        } });
    });
    if (!grouped) return;
    const each = (width - left - 14) / chart.categories.length;
    l.series.push({ type: "custom", silent: true, xAxisIndex: i, yAxisIndex: i, tooltip: { show: false }, data: chart.groups.map((g) => [g.from, 0]),
      renderItem(params, api) {
        const g = chart.groups[params.dataIndex], a = api.coord([g.from, 0]), b = api.coord([g.to, 0]);
        const fit = Math.floor((g.to - g.from + 1.8) * each / 5.6);
        return { type: "text", x: (a[0] + b[0]) / 2, y: a[1] + 21, style: { text: g.name.length > fit ? g.name.slice(0, Math.max(fit - 1, 1)) + "…" : g.name, fill: theme.ink, fontSize: 10.5, fontWeight: "bold", fontFamily: FACE, align: "center", verticalAlign: "top" } };
      } });
  });
  const name = (j) => {
    const g = (chart.groups || []).find((g) => g.from <= j && j <= g.to);
    return (g && grouped ? g.name + ", " : "") + chart.x.name + " " + chart.categories[j];
  };
  return finish(l, among((p) => name(p.value[0]), chart.y.name));
}

// among tells of all series at the place of the mouse, so that small bars are
// found too.
function among(head, unit) {
  return { trigger: "axis", axisPointer: { type: "shadow" }, formatter: (points) => {
    const bars = points.filter((p) => p.value.length > 3);
    return bars.length ? [head(bars[0])].concat(bars.map((p) => p.seriesName + ": " + number(p.value[1]) + interval(p.value[2], p.value[3]) + " " + unit)).join("\n") : "";
  } };
}

function stages(l) {
  const { chart, theme, width } = l;
  const letters = Math.min(Math.max(...flat(chart.panels.map((p) => p.categories.map((c) => c.length)))), Math.floor(width * .38 / LETTER));
  const clip = (c) => c.length > letters ? c.slice(0, letters - 1) + "…" : c;
  chart.panels.forEach((panel, k) => {
    const last = k === chart.panels.length - 1, s = panel.series[0], n = panel.categories.length;
    const top = s.y.reduce((m, v, j) => Math.max(m, v, s.hi[j]), 0), wide = ticks(top * 1.12);
    const i = grid(l, panel, n * 22 + 4, 16 + letters * LETTER,
      { type: "value", min: 0, max: wide.end, interval: wide.step, name: last ? chart.x.name : "", nameGap: 26, splitLine: { show: true, lineStyle: { color: theme.pale } }, axisLabel: { formatter: short } },
      { type: "category", inverse: true, data: panel.categories.map((c, j) => ({ value: j + ":" + c })), axisTick: { show: false }, axisLabel: { interval: 0, formatter: (v) => clip(v.slice(v.indexOf(":") + 1)) } }, last ? 46 : 30);
    l.series.push({ type: "custom", name: panel.title, xAxisIndex: i, yAxisIndex: i, itemStyle: { color: theme.sides[s.colour] }, encode: { x: 1, y: 0 },
      data: s.x.map((x, j) => [x, s.y[j], s.lo[j], s.hi[j]]),
      renderItem(params, api) {
        const at = (v) => api.coord([v, api.value(0)]), lo = api.value(2), hi = api.value(3);
        return bar(theme, theme.sides[s.colour], at(0), at(api.value(1)), 15, hi > lo && at(lo), hi > lo && at(hi), short(api.value(1)), "lying");
      } });
  });
  return finish(l, among((p) => chart.panels[p.seriesIndex].categories[p.value[0]], "ms"));
}

function heatColour(percent) {
  const at = Math.sqrt(Math.min(Math.max(percent, 0), 100) / 100) * (HEAT.length - 1), k = Math.min(Math.floor(at), HEAT.length - 2), f = at - k;
  return HEAT[k].map((a, i) => Math.round(a * (1 - f) + HEAT[k + 1][i] * f));
}

function heat(l, view) {
  const { chart, theme } = l;
  const shown = view || views(chart)[0];
  chart.panels.forEach((panel, k) => {
    const s = panel.series.find((s) => s.view === shown);
    if (!s) return;
    const last = k === chart.panels.length - 1, best = s.v.indexOf(Math.min(...s.v));
    const i = grid(l, panel, chart.rows.length * 26, 44,
      { type: "category", data: chart.categories, axisTick: { show: false }, name: last ? chart.x.name : "", nameGap: 24 },
      { type: "category", data: chart.rows, axisTick: { show: false }, splitLine: { show: false }, name: chart.y.name, nameGap: 28, axisLabel: { interval: 0 } }, last ? 44 : 30);
    l.series.push({ type: "custom", name: panel.title, xAxisIndex: i, yAxisIndex: i, encode: { x: 0, y: 1 }, data: s.v.map((v, j) => [s.x[j], s.y[j], v]),
      renderItem(params, api) {
        const at = api.coord([api.value(0), api.value(1)]), size = api.size([1, 1]), colour = heatColour(api.value(2));
        const ink = .299 * colour[0] + .587 * colour[1] + .114 * colour[2] < 135 ? "#fff" : "#1a1a1a";
        const shape = { x: at[0] - size[0] / 2 + 1, y: at[1] - size[1] / 2 + 1, width: size[0] - 2, height: size[1] - 2 };
        const children = [{ type: "rect", shape, style: { fill: "rgb(" + colour.join(",") + ")", stroke: params.dataIndex === best ? theme.ink : null, lineWidth: 2 } }];
        children.push({ type: "text", x: at[0], y: at[1], style: { text: number(+api.value(2).toFixed(1)), fill: ink, fontSize: SMALL, fontFamily: FACE, fontWeight: params.dataIndex === best ? "bold" : "normal", align: "center", verticalAlign: "middle" } });
        return { type: "group", children };
      } });
  });
  return finish(l, { formatter: (p) => p.seriesName + "\nbatch " + chart.categories[p.value[0]] + ", workers " + chart.rows[p.value[1]] + "\nregret " + number(p.value[2]) + " %" });
}

// views are those of which a chart shows one at a time.
function views(chart) { return unique(flat(chart.panels.map((p) => p.series.map((s) => s.view || "")))); }

const KINDS = { lines, bars, stages, heat };

// draw makes ECharts' option of a chart, and the height that it needs.
function draw(chart, width, dark, options) {
  const o = options || {};
  return KINDS[chart.kind](layout(chart, width, dark ? DARK : LIGHT, o.titled), o.view);
}

function svg(text, dark) {
  const { option, height } = draw(JSON.parse(text), 760, dark, { titled: true });
  const instance = echarts.init(null, null, { renderer: "svg", ssr: true, width: 760, height });
  instance.setOption(option);
  const found = instance.renderToSVGString();
  instance.dispose();
  return found;
}

globalThis.penstockDraw = draw;
globalThis.penstockViews = views;
globalThis.penstockSVG = svg;
})();
