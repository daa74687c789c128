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

  /* A page's clock may be wrong: ages count from the moment the server rendered the page. */
  function tick(started, renderedAt, words) {
    const now = renderedAt + (performance.now() - started);
    document.querySelectorAll("time[data-ago]").forEach((time) => {
      const seconds = Math.max(0, Math.round((now - Date.parse(time.dateTime)) / 1000));
      const [unit, size] = units.find(([, size]) => seconds >= size) || units[3];
      time.textContent = words.format(-Math.floor(seconds / size), unit);
    });
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
    document.querySelectorAll("select[data-submit]").forEach((select) => {
      select.addEventListener("change", () => select.form.requestSubmit());
    });
    const started = performance.now();
    const words = new Intl.RelativeTimeFormat(root.lang, { numeric: "always", style: "long" });
    const run = () => tick(started, Date.parse(document.body.dataset.renderedAt), words);
    run();
    setInterval(run, 1000);
  });
})();
