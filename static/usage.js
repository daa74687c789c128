/* Charts of use over time. Each reads the table beside it: one source, so picture and table cannot disagree. */
(function () {
  "use strict";
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const GRIDS = 3, HEIGHT = 496, LEGEND = { itemWidth: 20, itemGap: 18, fontSize: 12, line: 32 };

  function read(table) {
    const titles = Array.from(table.tHead.rows[0].cells, (cell) => cell.textContent.trim());
    const rows = Array.from(table.tBodies[0].rows, (row) => Array.from(row.cells));
    const numbers = (column, of = "v") => rows.map((cells) => {
      const text = cells[column].dataset[of];
      return text === "" ? null : Number(text);
    });
    const low = numbers(4), high = numbers(4, "high"), lost = numbers(6), lostAtMost = numbers(6, "high");
    const beyond = (most, least) => most.map((value, i) => (value === null ? null : value - least[i]));
    return {
      titles, low, lost,
      times: rows.map((cells) => cells[0].textContent.trim()),
      texts: rows.map((cells) => cells.map((cell) => cell.textContent.trim())),
      own: numbers(1), borrowed: numbers(2), guaranteed: numbers(3), waiting: numbers(5),
      perhaps: beyond(high, low), lostPerhaps: beyond(lostAtMost, lost),
      unseen: rows.map((cells) => cells[7].textContent.trim() !== "–"),
    };
  }

  /* Where something was not seen the ground is dotted, from bottom to top: on an axis of its own. Where nothing was,
     that is all there is. */
  function ground(data, grid) {
    const dots = { symbol: "circle", symbolSize: 0.7, color: css("--c-unknown"), dashArrayX: [[2, 5], [0, 3.5, 2, 1.5]], dashArrayY: [2, 2] };
    return {
      ...(data.unseen.some(Boolean) ? { name: data.titles[7] } : {}), // named in the legend where there is any
      type: "bar", xAxisIndex: grid, yAxisIndex: grid + GRIDS, barWidth: "100%", barGap: "-100%", z: 1, silent: true,
      data: data.unseen.map((unseen) => (unseen ? 1 : null)), itemStyle: { color: css("--c-sunken"), decal: dots },
    };
  }

  function series(data, words) {
    const ink = css("--c-ink"), own = css("--c-own"), borrow = css("--c-borrow"), surface = css("--c-surface"), bad = css("--c-bad");
    const [, ownTitle, borrowedTitle, guaranteedTitle, lentTitle, waitingTitle, lostTitle] = data.titles;
    const bar = { type: "bar", stack: "used", barWidth: "80%", barGap: "-100%", z: 2 };
    const lostBar = { ...bar, stack: "lost", xAxisIndex: 2, yAxisIndex: 2 };
    const some = (values) => values.map((value) => value || null); // a bar of nothing would still show its edge
    const below = (values) => some(values).map((value) => value && -value);
    const edge = (width, type) => ({ color: surface, borderColor: own, borderWidth: width, borderType: type });
    const stripes = { symbol: "rect", color: borrow, dashArrayX: [1, 0], dashArrayY: [2.5, 3.5], rotation: -Math.PI / 4 };
    return [
      { ...bar, name: ownTitle, data: some(data.own), itemStyle: { color: own } },
      { ...bar, name: borrowedTitle, data: some(data.borrowed), itemStyle: { color: css("--c-borrow-bg"), borderColor: borrow, borderWidth: 1, decal: stripes } },
      { ...bar, name: lentTitle, data: below(data.low), itemStyle: edge(1.5, "solid") },
      { ...bar, name: words.atMost, data: below(data.perhaps), itemStyle: edge(1, [3, 2]) },
      { type: "line", name: guaranteedTitle, data: data.guaranteed, step: "middle", symbol: "none", z: 3, lineStyle: { color: ink, width: 2 }, itemStyle: { color: ink } },
      { ...bar, stack: "waiting", name: waitingTitle, xAxisIndex: 1, yAxisIndex: 1, data: some(data.waiting), itemStyle: { color: css("--c-sunken"), borderColor: css("--c-ink-2"), borderWidth: 1, borderType: [3, 2] } },
      { ...lostBar, name: lostTitle, data: some(data.lost), itemStyle: { color: bad } },
      { ...lostBar, name: words.lostAtMost, data: some(data.lostPerhaps), itemStyle: { color: surface, borderColor: bad, borderWidth: 1, borderType: [3, 2] } },
      ground(data, 0), ground(data, 1), ground(data, 2),
    ];
  }

  /* Months as they are; days by name; of hours those of one day, of a week's the midnights, by name of their day. */
  function labels(times) {
    const name = new Intl.DateTimeFormat(document.documentElement.lang.replace(/^en$/, "en-GB"), { day: "numeric", month: "short", timeZone: "UTC" });
    const isMidnight = (time) => time.endsWith(" 00:00");
    const text = (time, i) => {
      const [date, clock] = time.split(" ");
      if (date.length < 10) return date;
      const day = name.format(Date.parse(date));
      if (!clock || isMidnight(time)) return day;
      return i === 0 ? `${clock}\n${day}` : clock;
    };
    const isOfDays = times.length > 24 && times.some(isMidnight);
    return { formatter: text, interval: isOfDays ? (_, time) => isMidnight(time) : "auto" };
  }

  function axes(data, words) {
    const quiet = css("--c-ink-2"), [waitingTitle, lostTitle] = data.titles.slice(5);
    const time = (grid) => ({
      gridIndex: grid, type: "category", data: data.times, axisTick: { show: false },
      axisLine: { onZero: true, lineStyle: { color: css("--c-control") } },
      axisLabel: { show: grid === GRIDS - 1, color: quiet, fontSize: 11, margin: 8, lineHeight: 14, hideOverlap: true, ...labels(data.times) },
    });
    const nothing = [false, !data.waiting.some(Boolean), !data.lost.concat(data.lostPerhaps).some(Boolean)];
    const amount = (grid, name) => ({
      ...(nothing[grid] ? { min: 0, max: 1 } : {}), // without any number there would be no axis
      gridIndex: grid, type: "value", name, nameLocation: "end", minInterval: grid < 2 ? 1 : 0, splitNumber: grid ? 2 : 5,
      nameTextStyle: { color: quiet, fontSize: 11, align: "left", padding: [0, 0, 2, -36] },
      axisLabel: { color: quiet, fontSize: 11, formatter: (value) => String(Math.abs(value)) },
      splitLine: { lineStyle: { color: css("--c-line") } },
    });
    const whole = (grid) => ({ gridIndex: grid, type: "value", show: false, min: 0, max: 1 });
    const names = [words.used, waitingTitle, lostTitle];
    return { xAxis: [0, 1, 2].map(time), yAxis: [...names.map((name, grid) => amount(grid, name)), ...[0, 1, 2].map(whole)] };
  }

  /* The tooltip is drawn on the canvas: the other kind writes style attributes, which the policy forbids. */
  function tooltip(data) {
    const tell = (points) => data.texts[points[0].dataIndex].map((text, i) => (i ? `${data.titles[i]}  ${text}` : text)).join("\n");
    return {
      trigger: "axis", renderMode: "richText", confine: true, formatter: tell,
      backgroundColor: css("--c-surface"), borderColor: css("--c-control"), textStyle: { color: css("--c-ink"), fontSize: 12 },
    };
  }

  /* How far the legend's lines beyond the first push everything down. */
  function legendDepth(names, box) {
    const pen = document.createElement("canvas").getContext("2d");
    pen.font = `${LEGEND.fontSize}px ${getComputedStyle(document.body).fontFamily}`;
    let lines = 0, at = Infinity;
    for (const name of names) {
      const width = LEGEND.itemWidth + 5 + pen.measureText(name).width;
      if (at + width > box.clientWidth - 10) { lines += 1; at = 0; }
      at += width + LEGEND.itemGap;
    }
    return (lines - 1) * LEGEND.line;
  }

  function draw(chart, box, data) {
    const drawn = series(data, box.dataset);
    const down = legendDepth(new Set(drawn.map((each) => each.name).filter(Boolean)), box);
    box.style.height = `${HEIGHT + down}px`;
    chart.resize();
    const grid = (top, height) => ({ left: 40, right: 30, top, height, outerBoundsMode: "none" }); // in line, all of them
    chart.setOption({
      animation: false,
      textStyle: { fontFamily: getComputedStyle(document.body).fontFamily, color: css("--c-ink") },
      axisPointer: { link: [{ xAxisIndex: "all" }] },
      grid: [grid(58 + down, 210), grid(308 + down, 56), grid(404 + down, 56)],
      legend: { top: 0, left: 0, itemWidth: LEGEND.itemWidth, itemHeight: 12, itemGap: LEGEND.itemGap, itemStyle: { borderType: "inherit" }, textStyle: { color: css("--c-ink-2"), fontSize: LEGEND.fontSize } },
      tooltip: tooltip(data),
      ...axes(data, box.dataset),
      series: drawn,
    }, true);
  }

  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll("[data-usage-chart]").forEach((box) => {
      const data = read(document.getElementById(box.dataset.usageChart));
      box.classList.add("is-drawn");
      const chart = window.echarts.init(box, null, { renderer: "canvas" });
      const again = () => draw(chart, box, data);
      new ResizeObserver(again).observe(box);
      new MutationObserver(again).observe(document.documentElement, { attributeFilter: ["data-bs-theme"] });
    });
  });
})();
