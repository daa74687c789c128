/* Speed of use: / goes to the search box, ? opens help, a copy button copies and says so. Single keys can be switched
   off by each person; without script the search box is a form and help is an anchor. */
(function () {
  "use strict";
  const byId = (id) => document.getElementById(id);

  const isTyping = (target) => Boolean(target.closest && target.closest("input, textarea, select, [contenteditable]"));

  function openHelp() {
    const help = byId("help");
    if (help && !help.open) help.showModal();
  }

  function goToSearch() {
    const box = byId("search");
    if (box) { box.focus(); box.select(); }
  }

  const KEYS = { "/": goToSearch, "?": openHelp };

  document.addEventListener("keydown", (event) => {
    const act = KEYS[event.key];
    if (!act || event.isComposing || !document.querySelector("#help[data-keys]")) return;
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if (document.querySelector("dialog[open]")) return;
    event.preventDefault();
    act();
  });

  /* Said anew each time: a live region with the same words as before is not read again. */
  function say(words) {
    byId("said").textContent = "";
    setTimeout(() => { byId("said").textContent = words; }, 50);
  }

  async function copy(button) {
    const texts = byId("said").dataset;
    try {
      await navigator.clipboard.writeText(button.dataset.copy);
      button.classList.add("is-done");
      setTimeout(() => button.classList.remove("is-done"), 2000);
      say(`${texts.copied}: ${button.dataset.called || button.dataset.copy}`);
    } catch {
      say(texts.failed);
    }
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-copy], [data-help]");
    if (!button) return;
    if (button.dataset.copy !== undefined) { copy(button); return; }
    event.preventDefault();
    openHelp();
  });
})();
