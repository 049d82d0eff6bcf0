// An answer's claims and their evidence, for report and dashboard: a claim opened lights up its evidence in the passages.
"use strict";
(() => {
  let closed = null; // what was, while a page is printed

  const restore = (answer) => {
    // Claims in the response keep the colour of their own label; only evidence takes that of the claim that is open.
    for (const one of answer.querySelectorAll("a.claim.on")) one.classList.remove("on");
    for (const one of answer.querySelectorAll("mark.on")) one.classList.remove("on", "supported", "unsupported", "contradicted");
  };

  const light = (finding, answer) => {
    restore(answer);
    for (const other of answer.querySelectorAll("details.finding[open]")) if (other !== finding) other.open = false;
    const label = ["supported", "unsupported", "contradicted"].find((name) => finding.classList.contains(name));
    const claim = finding.id.slice(finding.id.lastIndexOf("-c") + 2);
    const marked = [...answer.querySelectorAll(`[data-claims~="${claim}"], a.claim[href$="-c${claim}"]`)];
    for (const one of marked) {
      one.classList.add("on");
      if (one.tagName === "MARK") one.classList.add(label);
    }
    const first = marked.find((one) => one.closest(".passage"));
    if (first) show(first);
  };

  // Bring a place into view inside the column of passages alone: the page itself stays where the reader is.
  const show = (place) => {
    const passage = place.closest(".passage");
    if (passage) passage.open = true;
    const column = place.closest(".sources");
    if (!column || column.scrollHeight <= column.clientHeight) return;
    const offset = place.getBoundingClientRect().top - column.getBoundingClientRect().top;
    if (offset < 0 || offset > column.clientHeight * 0.8) column.scrollTop += offset - column.clientHeight / 3;
  };

  const open = (id) => {
    const finding = document.getElementById(id);
    if (!finding) return false;
    finding.open = true;
    finding.querySelector("summary").focus();
    return true;
  };

  document.addEventListener("toggle", (event) => {
    const finding = event.target;
    const answer = finding.matches?.("details.finding") && finding.closest(".answer");
    if (!answer || closed) return;
    if (finding.open) light(finding, answer);
    else if (!answer.querySelector("details.finding[open]")) restore(answer);
  }, true);

  document.addEventListener("click", (event) => {
    const claim = event.target.closest("a.claim");
    if (claim && open(claim.getAttribute("href").slice(1))) event.preventDefault();
    const link = event.target.closest("a.to-passage");
    if (link) {
      const passage = document.getElementById(link.getAttribute("href").slice(1));
      if (passage) {
        passage.open = true;
        show(passage.querySelector("mark.on") || passage);
      }
    }
    const mark = event.target.closest(".passage mark[data-claims]");
    if (mark) open(`${mark.closest(".answer").dataset.answer}-c${mark.dataset.claims.split(" ")[0]}`);
  });

  // On paper there is nothing to click: all is open while it is printed.
  addEventListener("beforeprint", () => {
    closed ??= [...document.querySelectorAll("details:not([open])")];
    for (const one of closed) one.open = true;
  });
  addEventListener("afterprint", () => {
    for (const one of closed ?? []) one.open = false;
    setTimeout(() => { closed = null; });
  });
})();
