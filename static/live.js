/* Keeps a page's live part current without moving anything under the reader.
   Cells change in place; rows that came or went wait behind a button. A page in the background asks nothing. */
(function () {
  "use strict";
  const SECONDS = 2;
  const part = () => document.getElementById("live");
  const texts = () => document.getElementById("live-texts").dataset;
  let etag = "", waiting = null, failed = false;

  const isPaused = () => sessionStorage.getItem("paused") === "yes";

  function ask() {
    if (part() && !document.hidden && !isPaused()) document.body.dispatchEvent(new Event("live"));
  }

  /* A row is known by its data-row. What is no row is replaced whole where it differs. */
  function merge(fresh) {
    let changes = 0;
    part().querySelectorAll("[data-region]").forEach((old) => {
      const now = fresh.querySelector(`[data-region="${old.dataset.region}"]`);
      if (!now) { changes += 1; return; }
      if (old.dataset.rows === undefined || now.dataset.rows === undefined) replace(old, now);
      else changes += mergeRows(old, now);
    });
    changes += fresh.querySelectorAll("[data-region]").length - part().querySelectorAll("[data-region]").length;
    return Math.max(0, changes);
  }

  /* Node by node, so that what has the focus, is unfolded or is selected stays the same element. */
  function replace(old, now) {
    now.childNodes.forEach((next, i) => {
      const node = old.childNodes[i];
      if (!node) old.append(document.importNode(next, true));
      else if (node.nodeName !== next.nodeName) node.replaceWith(document.importNode(next, true));
      else if (next.nodeType !== Node.ELEMENT_NODE) { if (node.data !== next.data) node.data = next.data; }
      else { attributes(node, next); replace(node, next); }
    });
    while (old.childNodes.length > now.childNodes.length) old.lastChild.remove();
  }

  function attributes(old, now) {
    [...old.attributes].filter(({ name }) => name !== "open" && !now.hasAttribute(name)).forEach(({ name }) => old.removeAttribute(name));
    [...now.attributes].filter(({ name, value }) => old.getAttribute(name) !== value).forEach(({ name, value }) => old.setAttribute(name, value));
  }

  /* Where the rows are some of many, one that is missing may stand further on: it was pushed out by one that came. */
  function mergeRows(old, now) {
    const fresh = new Map([...now.querySelectorAll("[data-row]")].map((row) => [row.dataset.row, row]));
    const areSome = now.dataset.rows === "some";
    let missing = 0;
    old.querySelectorAll("[data-row]").forEach((row) => {
      const next = fresh.get(row.dataset.row);
      row.classList.toggle("is-gone", !next && !areSome);
      if (next) replace(row, next); else missing += 1;
      fresh.delete(row.dataset.row);
    });
    return areSome ? Math.max(missing, fresh.size) : missing + fresh.size;
  }

  function show(html) {
    const fresh = new DOMParser().parseFromString(html, "text/html").getElementById("live");
    if (!fresh) { location.reload(); return; }
    const hadFocus = part().contains(document.activeElement);
    const changes = merge(fresh);
    if (hadFocus && !part().contains(document.activeElement)) part().focus({ preventScroll: true });
    waiting = changes ? fresh : null;
    announce(changes);
    document.dispatchEvent(new Event("portal:refreshed"));
  }

  function announce(changes) {
    const button = document.getElementById("live-show");
    button.hidden = changes === 0;
    const words = changes === 0 ? "" : changes === 1 ? texts().one : texts().many.replace("%n", changes);
    if (button.textContent === words) return;
    button.textContent = words;
    document.getElementById("live-changes").textContent = words;
  }

  function showWaiting() {
    if (!waiting) return;
    part().innerHTML = waiting.innerHTML;
    waiting = null;
    announce(0);
    document.dispatchEvent(new Event("portal:refreshed"));
    part().focus({ preventScroll: true });
  }

  function connection(isBroken) {
    if (failed === isBroken) return;
    failed = isBroken;
    document.getElementById("live-broken").hidden = !isBroken;
    document.getElementById("live-status").textContent = isBroken ? texts().broken : texts().healed;
  }

  function age(xhr) {
    const asOf = xhr.getResponseHeader("X-Facts-As-Of");
    if (asOf) document.querySelectorAll("time[data-as-of]").forEach((time) => { time.dateTime = asOf; });
  }

  document.addEventListener("DOMContentLoaded", () => {
    if (!part()) return;
    document.body.addEventListener("htmx:configRequest", (event) => {
      if (event.detail.elt === part() && etag) event.detail.headers["If-None-Match"] = etag;
    });
    document.body.addEventListener("htmx:beforeSwap", (event) => {
      if (event.detail.elt !== part()) return;
      const xhr = event.detail.xhr;
      event.detail.shouldSwap = false;
      event.detail.isError = false;
      const spoken = xhr.getResponseHeader("Content-Language");
      if (xhr.status === 404 || xhr.status === 403 || (spoken && spoken !== document.documentElement.lang)) { location.reload(); return; }
      connection(xhr.status >= 400);
      age(xhr);
      if (xhr.status === 200) { etag = xhr.getResponseHeader("ETag") || ""; show(xhr.responseText); }
    });
    /* Parts that read themselves again now and then: their first read is the page's own, later ones wait with it. */
    const read = new WeakSet();
    document.body.addEventListener("htmx:afterRequest", (event) => read.add(event.detail.elt));
    document.body.addEventListener("htmx:beforeRequest", (event) => {
      const { elt, requestConfig } = event.detail;
      const byItself = elt !== part() && !requestConfig.triggeringEvent && read.has(elt);
      if (byItself && (document.hidden || isPaused())) event.preventDefault();
    });
    ["htmx:sendError", "htmx:timeout"].forEach((name) => document.body.addEventListener(name, () => connection(true)));
    document.addEventListener("visibilitychange", ask);
    document.getElementById("live-show").addEventListener("click", showWaiting);
    const pause = document.getElementById("live-pause");
    const tell = () => {
      pause.querySelector("[data-text]").textContent = isPaused() ? texts().resume : texts().pause;
    };
    pause.addEventListener("click", () => {
      sessionStorage.setItem("paused", isPaused() ? "" : "yes");
      tell();
      ask();
    });
    tell();
    setInterval(ask, SECONDS * 1000);
  });
})();
