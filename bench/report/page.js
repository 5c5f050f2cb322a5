// Draws the page's charts from the data inside it, and filters them. Texts go
// into the page as text alone, never as markup.
(function () {
"use strict";

const charts = JSON.parse(document.getElementById("data").textContent) || [];
const INK = "#1a1a1a";
const RAMP = [[0x14, 0x12, 0x3c], [0x2f, 0x3f, 0x8f], [0x1f, 0x78, 0xa8], [0x35, 0xa7, 0x9c], [0x9c, 0xc9, 0x5e]];
const DASHES = ["solid", [7, 3], [2, 2], [9, 3, 2, 3], [4, 2]];
const MARKS = ["circle", "rect", "triangle", "diamond", "emptyCircle", "emptyRect", "emptyTriangle", "emptyDiamond"];
const DECALS = [null,
  { symbol: "rect", dashArrayX: [1, 0], dashArrayY: [2, 4], rotation: Math.PI / 4, color: "rgba(255,255,255,.75)" },
  { symbol: "circle", dashArrayX: [[5, 5], [0, 5, 5, 0]], dashArrayY: [4, 2], symbolSize: .7, color: "rgba(255,255,255,.75)" },
  { symbol: "rect", dashArrayX: [1, 0], dashArrayY: [2, 4], rotation: -Math.PI / 4, color: "rgba(255,255,255,.75)" }];
const MOST_LINES = 8;

// What can be filtered by, in the order of the page.
const DIMENSIONS = [
  ["side", "Side"], ["data", "Data"], ["model", "Model"], ["device", "Device"], ["consumer", "Consumer"],
  ["batch", "Batch size"], ["workers", "Workers"]];
const hidden = {}; // dimension to the set of values that are not shown
for (const [d] of DIMENSIONS) hidden[d] = new Set();

function between(t) {
  const at = Math.min(Math.max(t, 0), 1) * (RAMP.length - 1);
  const k = Math.min(Math.floor(at), RAMP.length - 2), f = at - k;
  return RAMP[k].map((a, i) => Math.round(a * (1 - f) + RAMP[k + 1][i] * f));
}
const rgb = (c) => "rgb(" + c.join(",") + ")";
const shade = (i, n) => rgb(between(n < 2 ? .25 : i / (n - 1)));
const legible = (c) => .299 * c[0] + .587 * c[1] + .114 * c[2] < 140 ? "#fff" : INK;
const unique = (list) => [...new Set(list)];
const passes = (item) => DIMENSIONS.every(([d]) => !item.is[d] || !hidden[d].has(item.is[d]));

function number(v) {
  const a = Math.abs(v);
  if (a === 0) return "0";
  if (a >= 99.95) return v.toFixed(0);
  if (a >= 9.995) return v.toFixed(1);
  if (a >= .01) return v.toFixed(2);
  return v.toPrecision(2);
}

// short is for axes, where room is scarce.
function short(v) {
  const a = Math.abs(v);
  if (a >= 1e6) return +(v / 1e6).toPrecision(3) + " M";
  if (a >= 1e5) return +(v / 1e3).toPrecision(3) + " k";
  return String(+v.toPrecision(6));
}

// within is an item's name without its side: colour and marks tell it, dashes and
// hatches tell the side.
function within(item) {
  const side = item.is.side || "";
  if (item.name === side) return "";
  return item.name.startsWith(side + ", ") ? item.name.slice(side.length + 2) : item.name;
}

function looks(items) {
  const size = (name) => name.replace(/\d+/g, (n) => n.padStart(9, "0")); // so that numbers are in order
  const names = unique(items.map(within)), sides = unique(items.map((i) => i.is.side));
  const bySide = names.length < 2;
  if (items.every((i) => i.is.workers)) names.sort((a, b) => size(a) < size(b) ? -1 : 1);
  return (item) => {
    const side = sides.indexOf(item.is.side), i = bySide ? side : names.indexOf(within(item));
    return { colour: shade(i, bySide ? sides.length : names.length), mark: MARKS[i % MARKS.length],
      dash: DASHES[(sides.length > 1 ? side : i) % DASHES.length], decal: DECALS[side % DECALS.length] };
  };
}

// some are as many lines as can be told apart: those of the usual batch size, and
// of numbers of workers that are evenly spread, the same ones for all sides.
function some(items) {
  if (items.length <= MOST_LINES) return items;
  const byNumber = (a, b) => a - b;
  const batches = unique(items.map((i) => i.is.batch)).sort(byNumber), usual = batches[Math.floor(batches.length / 2)];
  const list = items.filter((i) => i.is.batch === usual);
  const workers = unique(list.map((i) => i.is.workers)).sort(byNumber), sides = unique(list.map((i) => i.is.side));
  const many = Math.max(1, Math.floor(MOST_LINES / sides.length));
  if (workers.length <= many) return list;
  const chosen = new Set();
  for (let k = 0; k < many; k++) chosen.add(workers[Math.floor((k + 1) * workers.length / many) - 1]);
  return list.filter((i) => chosen.has(i.is.workers)).slice(0, 2 * MOST_LINES);
}

// legendHeight is the room that a legend of these names takes, by an estimate of
// the letters' width.
function legendHeight(names, width) {
  let rows = 1, used = 0;
  for (const name of names) {
    const w = 54 + 6.1 * name.length;
    if (used > 0 && used + w > width) {
      rows++;
      used = 0;
    }
    used += w;
  }
  return rows * 24;
}

// frame is what all charts have in common.
function frame(chart, width, names) {
  const narrow = width < 600, below = names ? legendHeight(names, width) + 58 : 48;
  const text = { color: INK, fontSize: narrow ? 11 : 12 };
  const line = { lineStyle: { color: INK } };
  return {
    animation: false, textStyle: text,
    tooltip: { renderMode: "richText", confine: true, textStyle: { color: INK, fontSize: 12 }, backgroundColor: "#fff", borderColor: INK },
    legend: names && { type: "plain", bottom: 0, left: 0, right: 0, data: names, textStyle: text, itemWidth: 34, itemGap: 10 },
    grid: { left: narrow ? 58 : 72, right: 16, top: 22, bottom: below, outerBoundsMode: "none" },
    xAxis: { name: chart.x.name, nameLocation: "middle", nameGap: 30, nameTextStyle: text, axisLabel: { ...text, hideOverlap: true }, axisLine: { show: true, ...line, onZero: false } },
    yAxis: { name: chart.y.name, nameLocation: "middle", nameGap: narrow ? 42 : 54, nameTextStyle: text,
      axisLabel: { ...text, formatter: short }, axisLine: { show: true, ...line }, splitLine: { lineStyle: { color: "#d9d9d9" } } },
  };
}

// outlined draws segments in ink with a white outline, to be seen on dark bars too.
function outlined(segments) {
  return [["#fff", 3.6], [INK, 1.2]].flatMap(([stroke, lineWidth]) => segments.map(
    ([x1, y1, x2, y2]) => ({ type: "line", shape: { x1, y1, x2, y2 }, style: { stroke, lineWidth, fill: null } })));
}

function whiskers(points, horizontalSize) {
  return {
    type: "custom", silent: true, z: 5, data: points, encode: { x: 0, y: [1, 2] }, tooltip: { show: false },
    renderItem(params, api) {
      const a = api.coord([api.value(0), api.value(1)]), b = api.coord([api.value(0), api.value(2)]);
      const x = a[0] + (horizontalSize ? horizontalSize(api, params.dataIndex) : 0);
      return { type: "group", children: outlined([[x, a[1], x, b[1]], [x - 4, a[1], x + 4, a[1]], [x - 4, b[1], x + 4, b[1]]]) };
    },
  };
}

function lineOption(chart, items, width) {
  const o = frame(chart, width, unique(items.map((i) => i.name))), look = looks(items);
  Object.assign(o.xAxis, { type: "value", splitLine: { show: false } });
  const xs = items.flatMap((i) => i.x), low = Math.min(...xs.slice(0, 1), ...items.map((i) => i.x[0]));
  const high = items.reduce((m, i) => Math.max(m, i.x[i.x.length - 1]), low);
  o.xAxis.min = low === high ? low - 1 : low;
  o.xAxis.max = low === high ? high + 1 : high;
  if (chart.x.whole) o.xAxis.minInterval = 1;
  if (chart.x.log) {
    o.xAxis.interval = 1;
    o.xAxis.axisLabel.formatter = (v) => String(Math.pow(2, v));
  }
  o.yAxis.min = 0;
  o.tooltip.trigger = "axis";
  o.tooltip.axisPointer = { lineStyle: { color: INK } };
  o.tooltip.formatter = (points) => {
    const x = points[0].value[0];
    const head = chart.x.name + ": " + (chart.x.log ? Math.pow(2, x) : x);
    return [head, ...points.filter((p) => p.seriesType === "line").map((p) => {
      const range = p.value.length > 3 && p.value[3] > p.value[2] ? " [" + number(p.value[2]) + ".." + number(p.value[3]) + "]" : "";
      return p.seriesName + ": " + number(p.value[1]) + range;
    })].join("\n") + "\n(" + chart.y.name + ")";
  };
  o.series = items.map((it) => {
    const l = look(it), every = Math.max(1, Math.floor(it.x.length / 30));
    return {
      type: "line", name: it.name, symbol: l.mark, symbolSize: (_, p) => p.dataIndex % every === 0 ? 7 : 0, showAllSymbol: true,
      lineStyle: { type: l.dash, color: l.colour, width: 1.8 }, itemStyle: { color: l.colour },
      data: it.x.map((x, k) => it.lo ? [x, it.y[k], it.lo[k], it.hi[k]] : [x, it.y[k]]),
    };
  });
  for (const it of items) {
    if (!it.lo) continue;
    const spread = it.x.map((x, k) => [x, it.lo[k], it.hi[k]]).filter((p) => p[2] > p[1]);
    if (spread.length) o.series.push({ ...whiskers(spread), name: it.name });
  }
  return o;
}

function barOption(chart, items, width) {
  const narrow = width < 600, o = frame(chart, width, unique(items.map((i) => i.name))), look = looks(items);
  const categories = chart.x.categories.filter((c) => items.some((i) => i.cat === c));
  const names = unique(items.map((i) => i.name)), long = categories.some((c) => c.length > 12);
  Object.assign(o.xAxis, { type: "category", data: categories });
  o.xAxis.axisLabel = { ...o.xAxis.axisLabel, hideOverlap: false, interval: 0, rotate: long || narrow && categories.length > 4 ? 35 : 0,
    width: 110, overflow: "truncate" };
  if (o.xAxis.axisLabel.rotate) {
    o.grid.bottom += 50;
    o.xAxis.nameGap = 80;
  }
  o.tooltip.formatter = (p) => p.seriesName + "\n" + p.name + "\n" + p.data.words;
  o.yAxis.boundaryGap = [0, "8%"];
  const labels = items.length <= (narrow ? 8 : 24);
  o.series = names.map((name) => {
    const mine = items.filter((i) => i.name === name), l = look(mine[0]);
    return {
      type: "bar", name, itemStyle: { color: l.colour, borderColor: INK, borderWidth: .5, decal: l.decal }, barCategoryGap: "16%", barGap: "0%", barMaxWidth: 70,
      data: categories.map((c) => {
        const it = mine.find((i) => i.cat === c);
        return it ? { value: it.y[0], words: it.label } : { value: null, words: "" };
      }),
      label: { show: false },
    };
  });
  const spread = items.map((it) => [categories.indexOf(it.cat), it.lo[0], it.hi[0]]);
  const offset = (api, k) => {
    const layout = api.barLayout({ count: names.length, barGap: "0%", barCategoryGap: "16%", barMaxWidth: 70 });
    return layout[names.indexOf(items[k].name)].offsetCenter;
  };
  o.series.push({
    type: "custom", silent: true, z: 5, data: spread, encode: { x: 0, y: [1, 2] },
    renderItem(params, api) {
      const it = items[params.dataIndex], k = api.value(0);
      const a = api.coord([k, it.lo[0]]), b = api.coord([k, it.hi[0]]), top = api.coord([k, Math.max(it.y[0], it.hi[0])]);
      const x = a[0] + offset(api, params.dataIndex);
      const children = it.hi[0] > it.lo[0] ? outlined([[x, a[1], x, b[1]], [x - 3, a[1], x + 3, a[1]], [x - 3, b[1], x + 3, b[1]]]) : [];
      if (labels) children.push({ type: "text", style: { text: number(it.y[0]), x, y: top[1] - 5, fill: INK, fontSize: 10, align: "center", verticalAlign: "bottom" } });
      return { type: "group", children };
    },
  });
  return o;
}

function heatOption(chart, items, width) {
  const narrow = width < 600, o = frame(chart, width);
  const byNumber = (a, b) => a - b;
  const batches = unique(items.map((i) => i.is.batch)).sort(byNumber), workers = unique(items.map((i) => i.is.workers)).sort(byNumber);
  Object.assign(o.xAxis, { type: "category", data: batches });
  Object.assign(o.yAxis, { type: "category", data: workers, nameGap: 36 });
  o.yAxis.axisLabel.formatter = undefined;
  o.tooltip.formatter = (p) => items[p.dataIndex].name + "\n" + items[p.dataIndex].label;
  const best = items.reduce((m, i) => Math.min(m, i.y[0]), Infinity);
  const first = items.findIndex((i) => i.y[0] === best);
  o.series = [{
    type: "custom", data: items.map((i) => [batches.indexOf(i.is.batch), workers.indexOf(i.is.workers), i.y[0]]), encode: { x: 0, y: 1 },
    renderItem(params, api) {
      const at = api.coord([api.value(0), api.value(1)]), size = api.size([1, 1]);
      const colour = between(Math.sqrt(Math.min(Math.max(api.value(2), 0), 100) / 100)), ink = legible(colour);
      const shape = { x: at[0] - size[0] / 2 + 1, y: at[1] - size[1] / 2 + 1, width: size[0] - 2, height: size[1] - 2 };
      const inner = { x: shape.x + 3, y: shape.y + 3, width: shape.width - 6, height: shape.height - 6 };
      const children = [{ type: "rect", shape, style: { fill: rgb(colour) } }];
      if (params.dataIndex === first) children.push({ type: "rect", shape: inner, style: { fill: null, stroke: ink, lineWidth: 2 } });
      children.push({ type: "text", style: { text: number(api.value(2)), x: at[0], y: at[1], fill: ink, fontSize: narrow ? 11 : 12, align: "center", verticalAlign: "middle" } });
      return { type: "group", children };
    },
  }];
  return o;
}

const OPTIONS = { lines: lineOption, bars: barOption, heat: heatOption };

// A view is a chart in its place on the page.
function view(chart) {
  const figure = document.getElementById(chart.id), box = figure.querySelector(".plot"), shown = figure.querySelector(".shown");
  const views = unique(chart.items.map((i) => i.view || ""));
  let chosen = views[0], instance = null, width = 0;
  if (views.length > 1) {
    const select = document.createElement("select");
    select.className = "views";
    select.setAttribute("aria-label", "model");
    for (const v of views) select.append(new Option(v, v));
    select.addEventListener("change", () => { chosen = select.value; draw(); });
    box.before(select);
  }
  function draw() {
    const all = chart.items.filter((i) => passes(i) && (views.length < 2 || i.view === chosen));
    const items = chart.kind === "lines" ? some(all) : all;
    figure.classList.toggle("empty", items.length === 0);
    shown.textContent = items.length === 0 ? "Nothing is left by the filters."
      : items.length < all.length ? items.length + " of " + all.length + " lines are drawn; choose others by the filters." : "";
    figure.dataset.items = items.length;
    if (items.length === 0) {
      if (instance) instance.dispose();
      instance = null;
      return;
    }
    width = box.clientWidth;
    const option = OPTIONS[chart.kind](chart, items, width);
    const rows = unique(items.map((i) => i.is.workers)).length;
    box.style.height = (chart.kind === "heat" ? 90 + 34 * Math.max(rows, 2) : option.grid.bottom + (width < 600 ? 260 : 320)) + "px";
    if (!instance) instance = echarts.init(box, null, { renderer: "svg" });
    else instance.resize();
    instance.setOption(option, true);
  }
  draw();
  new ResizeObserver(() => { if (box.clientWidth !== width && box.clientWidth > 0) draw(); }).observe(figure);
  return draw;
}

function filters(redraw) {
  const form = document.getElementById("filters"), details = document.createElement("details"), groups = document.createElement("div");
  const summary = document.createElement("summary");
  groups.className = "groups";
  details.append(summary, groups);
  for (const [d, title] of DIMENSIONS) {
    const values = unique(charts.flatMap((c) => c.items.map((i) => i.is[d])).filter(Boolean));
    if (values.length < 2) continue;
    if (values.every((v) => /^\d+$/.test(v))) values.sort((a, b) => a - b);
    const set = document.createElement("fieldset"), legend = document.createElement("legend");
    legend.textContent = title;
    set.append(legend);
    for (const v of values) {
      const label = document.createElement("label"), box = document.createElement("input");
      box.type = "checkbox";
      box.checked = true;
      box.name = d;
      box.value = v;
      box.addEventListener("change", () => {
        if (box.checked) hidden[d].delete(v); else hidden[d].add(v);
        redraw();
      });
      label.append(box, v);
      set.append(label);
    }
    for (const [text, on] of [["all", true], ["none", false]]) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = text;
      button.addEventListener("click", () => {
        for (const box of set.querySelectorAll("input")) {
          box.checked = on;
          if (on) hidden[d].delete(box.value); else hidden[d].add(box.value);
        }
        redraw();
      });
      set.append(button);
    }
    groups.append(set);
  }
  if (!groups.children.length) return;
  summary.textContent = "Filter by " + [...groups.querySelectorAll("legend")].map((l) => l.textContent.toLowerCase()).join(", ");
  form.append(details);
  form.hidden = false;
}

const redraws = charts.map(view);
filters(() => { for (const draw of redraws) draw(); });
document.documentElement.dataset.ready = "yes";
})();
