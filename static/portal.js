/* Small behaviour of every page: theme, menu, ages that grow. No inline handlers: the policy forbids them. */
(function () {
  "use strict";
  const root = document.documentElement;
  const units = [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];

  function wantedTheme() {
    const kept = localStorage.getItem("theme");
    return kept || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  }
  root.dataset.bsTheme = wantedTheme();
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (zone) document.cookie = `zone=${zone}; path=/; max-age=31536000; samesite=lax${location.protocol === "https:" ? "; secure" : ""}`;

  /* The reader's clock may be wrong: ages count from the moment the server rendered the page. */
  function tick(started, renderedAt, words) {
    const now = renderedAt + (performance.now() - started);
    document.querySelectorAll("time[data-ago]").forEach((time) => {
      const [unit, size, seconds] = largestUnit(now - Date.parse(time.dateTime));
      set(time, seconds < 5 ? document.body.dataset.now : words.format(-Math.floor(seconds / size), unit));
    });
    document.querySelectorAll("time[data-since]").forEach((time) => {
      set(time, duration(now - Date.parse(time.dateTime)));
    });
  }

  function largestUnit(milliseconds) {
    const seconds = Math.max(0, Math.round(milliseconds / 1000));
    const [unit, size] = units.find(([, size]) => seconds >= size) || units[3];
    return [unit, size, seconds];
  }

  /* The largest two units, as the server words them. */
  function duration(milliseconds) {
    const [, , whole] = largestUnit(milliseconds);
    const days = Math.floor(whole / 86400), hours = Math.floor(whole / 3600) % 24;
    const minutes = Math.floor(whole / 60) % 60, seconds = whole % 60;
    const texts = document.body.dataset, counts = { days, hours, minutes, seconds };
    const largest = Object.keys(counts).find((unit) => counts[unit]) || "seconds";
    return texts[largest].replace(/%\((\w+)\)d/g, (_, unit) => counts[unit]);
  }

  function set(element, text) {
    if (element.textContent !== text) element.textContent = text;
  }

  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll("[data-theme-toggle]").forEach((button) => button.addEventListener("click", () => {
      root.dataset.bsTheme = root.dataset.bsTheme === "dark" ? "light" : "dark";
      localStorage.setItem("theme", root.dataset.bsTheme);
    }));
    document.querySelectorAll("[data-nav-toggle]").forEach((button) => button.addEventListener("click", () => {
      const open = document.getElementById("nav").classList.toggle("is-open");
      button.setAttribute("aria-expanded", String(open));
    }));
    document.addEventListener("keydown", (event) => {
      const nav = document.getElementById("nav");
      if (event.key === "Escape" && nav && nav.classList.contains("is-open")) {
        nav.classList.remove("is-open");
        document.querySelector("[data-nav-toggle]").setAttribute("aria-expanded", "false");
        document.querySelector("[data-nav-toggle]").focus();
      }
    });
    /* A form that filters leaves out of the address what is empty. */
    document.addEventListener("formdata", (event) => {
      if (!event.target.hasAttribute("data-tidy")) return;
      [...event.formData.entries()].forEach(([name, value]) => { if (value === "") event.formData.delete(name); });
    });
    document.querySelectorAll("select[data-submit]").forEach((select) => {
      select.addEventListener("change", () => select.form.requestSubmit());
    });
    /* A part that was opened and did not come says so. */
    ["htmx:responseError", "htmx:sendError", "htmx:timeout"].forEach((name) => document.addEventListener(name, (event) => {
      const part = event.detail.elt.closest("[data-unread]");
      if (!part) return;
      const told = document.createElement("p");
      told.className = "panel-body";
      told.setAttribute("role", "alert");
      told.textContent = part.dataset.unread;
      part.replaceChildren(told);
    }));
    const started = performance.now();
    const words = new Intl.RelativeTimeFormat(root.lang, { numeric: "always", style: "long" });
    const run = () => tick(started, Date.parse(document.body.dataset.renderedAt), words);
    run();
    setInterval(run, 1000);
    document.addEventListener("portal:refreshed", run);
  });
})();
