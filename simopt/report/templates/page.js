"use strict";
(() => {
  const claims = [...document.querySelectorAll("details.claim")];
  const chapters = [...document.querySelectorAll("section.chapter")];
  const selects = [...document.querySelectorAll(".filters select")];
  const search = document.getElementById("search");
  const shown = document.getElementById("shown");
  const none = document.getElementById("none");
  const unit = shown.dataset.unit;
  const rows = [...document.querySelectorAll("tr[data-of]")];
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
    for (const row of rows) row.hidden = document.getElementById(row.dataset.of).hidden;
    for (const chapter of chapters) chapter.hidden = !chapter.querySelector("details.claim:not([hidden])");
    shown.textContent = count === claims.length ? `${count} ${unit}` : `${count} of ${claims.length} ${unit}`;
    none.hidden = count > 0;
  }

  function reset() {
    search.value = "";
    for (const select of selects) select.value = "";
    filter();
  }

  function follow() {
    const name = decodeURIComponent(location.hash.slice(1));
    const part = document.getElementById(name);
    const claim = claims.find((each) => each.dataset.id === name) ?? part?.closest("details.claim");
    if (!claim) return;
    if (claim.hidden) reset();
    claim.open = true;
    const show = () => (claim.contains(part) ? part : claim).scrollIntoView({ block: "start" });
    show();
    requestAnimationFrame(() => requestAnimationFrame(show)); // again when what has come into view has its true height
    claim.querySelector("summary").focus({ preventScroll: true });
  }

  function value(cell) {
    const number = Number(cell.dataset.value === "inf" ? Infinity : cell.dataset.value ?? cell.textContent.trim().replaceAll("−", "-"));
    return number === number ? number : fold(cell.textContent.trim()); // what is no number does not equal itself
  }

  function missing(cell) {
    return cell.dataset.value === "nan" || /^[–\s]*$/.test(cell.textContent);
  }

  function sort(table, head, column) {
    const falling = head.getAttribute("aria-sort") === "ascending";
    const body = table.tBodies[0];
    const order = [...body.rows].sort((one, other) => {
      const [a, b] = [one.cells[column], other.cells[column]];
      if (missing(a) || missing(b)) return missing(a) - missing(b); // what has no value comes last, whatever the direction
      const [x, y] = [value(a), value(b)];
      const sign = typeof x === typeof y ? (x > y) - (x < y) : typeof x === "number" ? -1 : 1;
      return falling ? -sign : sign;
    });
    body.append(...order);
    for (const each of table.tHead.rows[0].cells) each.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", falling ? "descending" : "ascending");
    const entries = order.map((row) => document.getElementById(row.dataset.of)).filter(Boolean);
    if (entries.length) entries[0].parentElement.append(...entries);
  }

  for (const table of document.querySelectorAll("table.sortable")) {
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      button.addEventListener("click", () => sort(table, head, column));
      head.append(button);
    });
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
