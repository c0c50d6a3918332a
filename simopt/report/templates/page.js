"use strict";
(() => {
  const claims = [...document.querySelectorAll("details.claim")];
  const chapters = [...document.querySelectorAll("section.chapter")];
  const selects = [...document.querySelectorAll(".filters select")];
  const search = document.getElementById("search");
  const shown = document.getElementById("shown");
  const none = document.getElementById("none");
  const fold = (text) => text.normalize("NFKD").toLowerCase();
  const texts = new Map();
  const text = (claim) => {
    if (!texts.has(claim)) {
      const parts = [claim.dataset.id, ...[...claim.querySelectorAll(".title, .place, .says, .note")].map((part) => part.textContent)];
      texts.set(claim, fold(parts.join(" ")));
    }
    return texts.get(claim);
  };

  function filter() {
    const wanted = selects.filter((select) => select.value);
    const words = fold(search.value).split(/\s+/).filter(Boolean);
    let count = 0;
    for (const claim of claims) {
      const fits = wanted.every((select) => claim.dataset[select.name] === select.value) && words.every((word) => text(claim).includes(word));
      claim.hidden = !fits;
      count += fits;
    }
    for (const chapter of chapters) chapter.hidden = !chapter.querySelector("details.claim:not([hidden])");
    shown.textContent = count === claims.length ? `${count} claims` : `${count} of ${claims.length} claims`;
    none.hidden = count > 0;
  }

  function reset() {
    search.value = "";
    for (const select of selects) select.value = "";
    filter();
  }

  function follow() {
    const name = decodeURIComponent(location.hash.slice(1));
    const claim = claims.find((each) => each.dataset.id === name);
    if (!claim) return;
    if (claim.hidden) reset();
    claim.open = true;
    claim.scrollIntoView({ block: "start" });
    claim.querySelector("summary").focus({ preventScroll: true });
  }

  search.addEventListener("input", filter);
  for (const select of selects) select.addEventListener("change", filter);
  for (const button of document.querySelectorAll("button[data-set]")) {
    button.addEventListener("click", () => {
      const values = new URLSearchParams(button.dataset.set);
      search.value = "";
      for (const select of selects) select.value = values.get(select.name) ?? "";
      filter();
      document.querySelector(".filters").scrollIntoView({ block: "start" });
    });
  }
  document.querySelector(".filters").addEventListener("submit", (event) => event.preventDefault());
  document.getElementById("reset").addEventListener("click", reset);
  const visible = () => claims.filter((claim) => !claim.hidden);
  document.getElementById("open").addEventListener("click", () => visible().forEach((claim) => { claim.open = true; }));
  document.getElementById("close").addEventListener("click", () => claims.forEach((claim) => { claim.open = false; }));
  document.addEventListener("keydown", (event) => {
    const typing = /^(input|select|textarea)$/i.test(event.target.tagName);
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      search.focus();
    } else if (event.key === "Escape" && event.target === search) {
      reset();
    }
  });
  window.addEventListener("hashchange", follow);
  filter();
  follow();
})();
