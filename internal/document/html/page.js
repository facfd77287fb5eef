"use strict";
(() => {
  const all = (query, within = document) => [...within.querySelectorAll(query)];
  const make = (name, text, act) => {
    const made = document.createElement(name);
    made.textContent = text;
    if (act) {
      made.type = "button";
      made.addEventListener("click", act);
    }
    return made;
  };
  const tools = document.getElementById("tools"), filter = document.getElementById("filter");
  const findings = all(".finding[data-severity]"), rows = all("table:not(.picks) tbody tr");
  const items = all(".item[id]"), subs = all(".item:has(> details)");
  const picked = new Set(); // severities, and severities with their rules

  // What matches the filter and the picks is shown, and what holds something that is shown.
  const texts = new Map();
  const text = (element) => {
    if (!texts.has(element)) texts.set(element, element.textContent.toLowerCase());
    return texts.get(element);
  };
  const show = () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const matches = (element) => words.every((word) => text(element).includes(word));
    let shown = 0;
    for (const finding of findings) {
      const { severity, rule } = finding.dataset;
      finding.hidden = !(picked.size === 0 || picked.has(severity) || picked.has(severity + " " + rule)) || !matches(finding);
      if (!finding.hidden) shown++;
    }
    for (const element of [...rows, ...items]) element.hidden = !matches(element);
    for (const sub of subs) sub.hidden = words.length > 0 && all(".item[id]", sub).every((item) => item.hidden);
    for (const section of all("section section")) {
      const own = all(".finding[data-severity]", section);
      if (own.length) section.hidden = own.every((finding) => finding.hidden);
    }
    const parts = [];
    if (findings.length) parts.push(`${shown} of ${findings.length} findings`);
    if (items.length && words.length) parts.push(`${items.filter((item) => !item.hidden).length} of ${items.length} messages`);
    document.getElementById("count").textContent = parts.join(", ");
  };
  const pick = (key, button) => {
    if (!picked.delete(key)) picked.add(key);
    button.setAttribute("aria-pressed", String(picked.has(key)));
    button.closest("tr")?.classList.toggle("on", picked.has(key));
    show();
  };
  const picker = (key, words) => {
    const button = make("button", words, () => pick(key, button));
    button.setAttribute("aria-pressed", "false");
    return button;
  };
  const severities = ["error", "warning", "info"].filter((s) => findings.some((finding) => finding.dataset.severity === s));
  if (severities.length > 1) {
    for (const severity of severities) {
      const count = findings.filter((finding) => finding.dataset.severity === severity).length;
      document.getElementById("picks").append(picker(severity, `${severity} ${count}`));
    }
  }
  for (const row of all("tr[data-pick]")) {
    const cell = row.cells[1], link = cell.querySelector("a");
    const [severity, rule, ...name] = row.dataset.pick.split(" ");
    cell.replaceChildren(picker(severity + " " + rule, rule + " " + name.join(" ")), " ");
    if (link) {
      link.textContent = "page of the rule";
      link.setAttribute("aria-label", "page of the rule " + rule);
      link.className = "quiet";
      cell.append(link);
    }
  }
  let waits;
  filter.addEventListener("input", () => { clearTimeout(waits); waits = setTimeout(show, 100); });

  // Tables are sorted by the heading that is clicked.
  const number = (words) => parseFloat(words.replaceAll(",", ""));
  for (const table of all("table")) {
    const body = table.tBodies[0];
    if (body.rows.length < 2 || !table.querySelector("th.right")) continue;
    for (const head of table.tHead.rows[0].cells) {
      head.replaceChildren(make("button", head.textContent, () => {
        const down = head.getAttribute("aria-sort") === (head.className ? "descending" : "ascending") ? !head.className : !!head.className;
        for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const value = (row) => row.cells[head.cellIndex].textContent.trim();
        const order = (a, b) => head.className ? number(value(a)) - number(value(b)) : value(a).localeCompare(value(b));
        body.append(...[...body.rows].sort((a, b) => down ? order(b, a) : order(a, b)));
      }));
    }
  }

  // What the chosen viewer did not see is faded, and each message says why.
  const viewer = document.getElementById("viewer");
  const reasons = all("#reasons li").map((reason) => reason.textContent);
  viewer?.addEventListener("change", () => {
    for (const item of all("[data-seen]")) {
      item.querySelector(":scope > .why, :scope > details > summary > .why")?.remove();
      const seen = viewer.value && item.dataset.seen.split(" ")[viewer.value];
      item.classList.toggle("unseen", !!seen && seen[0] === "n");
      if (!seen) continue;
      const why = make("span", (seen[0] === "n" ? "not seen: " : "seen: ") + reasons[seen.slice(1)]);
      why.className = "why " + (seen[0] === "n" ? "warning" : "good");
      const head = item.querySelector(":scope > details > summary") || item;
      head.insertBefore(why, [...head.children].find((child) => /^(PRE|UL|DETAILS)$/.test(child.tagName)) || null);
    }
  });

  const folds = all("details:not(.source)"), fold = document.getElementById("all");
  fold.hidden = folds.length === 0;
  fold.addEventListener("click", () => {
    const open = fold.textContent !== "Fold all";
    for (const one of folds) one.open = open;
    fold.textContent = open ? "Fold all" : "Unfold all";
  });
  // What a link leads to may be folded.
  const reveal = () => {
    const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    for (let at = target && target.parentElement; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    if (target) target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  addEventListener("beforeprint", () => { for (const one of all("details")) one.open = true; });
  reveal();
  tools.hidden = findings.length + rows.length + items.length === 0;
  show();
})();
