// The passages beside a claim: searched, gone through sentence by sentence, and picked from as evidence. Every stretch of
// text knows where in its passage it stands (data-s, data-e, in code points), so what is selected is found again by offsets.

const one = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];

// `item` gives the part of the page that is shown now; `announce` tells screen readers; `changed` is told of every pick.
export const reader = ({ item, announce, changed }) => {
  // ---- evidence: what people select, found again by where each stretch of a passage stands in it

  let picks = []; // [place of the passage, start, end, what stands there]
  const canMark = typeof Highlight === "function" && CSS.highlights;
  const LAYERS = ["picked", "reading", "found", "found-now"]; // the last one on top
  const paint = (name, ranges) => {
    if (canMark) CSS.highlights.set(name, Object.assign(new Highlight(...ranges), { priority: LAYERS.indexOf(name) }));
  };
  const points = (text) => [...text].length; // offsets count code points
  const spans = (passage) => all("[data-s]", passage);
  const isEscape = (span) => points(span.textContent) !== span.dataset.e - span.dataset.s;

  const offset = (span, node, at) => {
    const text = node === span ? (at ? span.textContent : "") : node.nodeType === Node.TEXT_NODE ? node.data.slice(0, at) : "";
    const inside = points(text);
    if (isEscape(span)) return inside ? Number(span.dataset.e) : Number(span.dataset.s);
    return Number(span.dataset.s) + inside;
  };
  const pickOf = (passage, range) => {
    const touched = spans(passage).filter((span) => range.intersectsNode(span));
    if (!touched.length) return null;
    const [first, last] = [touched[0], touched.at(-1)];
    let start = first.contains(range.startContainer) ? offset(first, range.startContainer, range.startOffset) : Number(first.dataset.s);
    let end = last.contains(range.endContainer) ? offset(last, range.endContainer, range.endOffset) : Number(last.dataset.e);
    const text = textBetween(passage, start, end);
    start += points(text) - points(text.trimStart());
    end -= points(text) - points(text.trimEnd());
    return start < end ? [Number(passage.dataset.passage), start, end, textBetween(passage, start, end)] : null;
  };
  const textBetween = (passage, start, end) => spans(passage).map((span) => {
    const [low, high] = [Number(span.dataset.s), Number(span.dataset.e)];
    if (high <= start || low >= end) return "";
    if (isEscape(span)) return span.textContent;
    return [...span.textContent].slice(Math.max(0, start - low), end - low).join("");
  }).join("");
  const rangesOf = ([number, start, end]) => {
    const passage = one(`[data-passage="${number}"]`, item());
    if (!passage) return [];
    return spans(passage).filter((span) => Number(span.dataset.e) > start && Number(span.dataset.s) < end).map((span) => {
      const range = document.createRange();
      const text = span.firstChild;
      if (!text || isEscape(span)) { range.selectNodeContents(span); return range; }
      const letters = [...text.data];
      const low = Number(span.dataset.s);
      range.setStart(text, letters.slice(0, Math.max(0, start - low)).join("").length);
      range.setEnd(text, letters.slice(0, Math.max(0, end - low)).join("").length);
      return range;
    });
  };

  const drawPicks = () => {
    paint("picked", picks.flatMap(rangesOf));
    const box = one("#picked", item());
    if (!box) return;
    box.hidden = !picks.length;
    one("ul", box).replaceChildren(...picks.map((pick, number) => {
      const row = document.createElement("li");
      const quote = Object.assign(document.createElement("span"), { dir: "auto", textContent: `${pick[0] + 1}: ${pick[3].slice(0, 200)}` });
      const drop = Object.assign(document.createElement("button"), { type: "button", className: "plain", textContent: "×", title: "Remove" });
      drop.setAttribute("aria-label", `Remove evidence ${number + 1}`);
      drop.addEventListener("click", () => { picks.splice(number, 1); drawPicks(); changed(); });
      row.append(quote, " ", drop);
      return row;
    }));
  };
  const add = (found) => {
    for (const pick of found) {
      if (!picks.some((other) => String(other) === String(pick))) picks.push(pick);
    }
    drawPicks();
    changed();
    announce(`Evidence: ${found.map((pick) => pick[3]).join(" … ")}`);
  };
  const selected = () => {
    const selection = getSelection();
    if (!selection.rangeCount || selection.isCollapsed) return [];
    const range = selection.getRangeAt(0);
    return all("[data-passage]", item()).filter((passage) => range.intersectsNode(passage)).map((passage) => pickOf(passage, range)).filter(Boolean);
  };
  const pick = () => {
    const found = selected();
    if (found.length) { getSelection().removeAllRanges(); add(found); return; }
    const at = cursor >= 0 ? sentences()[cursor] : hits.length ? sentenceOf(hits[Math.max(0, hit)]) : null;
    if (at) add([pickOf(at.passage, at.range)].filter(Boolean));
    else announce("Select text in a passage first, or go to a sentence with N");
  };
  // ---- reading: search, and sentence by sentence

  let hits = [];
  let hit = -1;
  let cursor = -1;
  let cut = null; // the sentences of the passages, made when they are first asked for
  const lines = () => all("[data-passage] .prose, [data-passage] .record > div, [data-passage] td, [data-passage] th", item());
  const rangeIn = (line, start, end) => { // offsets in the text of the line, in UTF-16
    const range = document.createRange();
    let at = 0;
    const walk = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
    for (let node = walk.nextNode(); node; node = walk.nextNode()) {
      const after = at + node.data.length;
      if (start >= at && start < after) range.setStart(node, start - at);
      if (end > at && end <= after) { range.setEnd(node, end - at); return range; }
      at = after;
    }
    return range;
  };
  const sentences = () => {
    if (!cut) {
      const segmenter = typeof Intl.Segmenter === "function" ? new Intl.Segmenter(undefined, { granularity: "sentence" }) : null;
      cut = lines().flatMap((line) => {
        const text = line.textContent;
        const found = segmenter ? [...segmenter.segment(text)].map((one) => [one.index, one.segment]) : [[0, text]];
        return found.filter(([, sentence]) => sentence.trim()).map(([start, sentence]) => {
          const low = start + sentence.length - sentence.trimStart().length;
          const range = rangeIn(line, low, start + sentence.trimEnd().length);
          return { range, passage: line.closest("[data-passage]"), text: sentence.trim() };
        });
      });
    }
    return cut;
  };
  const sentenceOf = (place) => sentences().find(({ range }) => (
    range.compareBoundaryPoints(Range.START_TO_START, place) <= 0 && range.compareBoundaryPoints(Range.START_TO_END, place) > 0
  ));
  const bring = (range) => {
    const box = range.getBoundingClientRect();
    const column = one(".sources", item());
    const frame = column.scrollHeight > column.clientHeight + 1 ? column.getBoundingClientRect() : null;
    if (frame) {
      if (box.top < frame.top + 60 || box.bottom > frame.bottom - 20) column.scrollTop += box.top - frame.top - frame.height / 3;
    } else if (box.top < 80 || box.bottom > innerHeight - 160) scrollBy(0, box.top - innerHeight / 3);
  };
  const step = (by) => {
    const found = sentences();
    if (!found.length) return;
    if (cursor < 0 && hit >= 0) cursor = found.indexOf(sentenceOf(hits[hit])) - (by > 0 ? 1 : -1);
    cursor = Math.min(found.length - 1, Math.max(0, cursor + by));
    paint("reading", [found[cursor].range]);
    bring(found[cursor].range);
    one("#pick", item()).hidden = false;
    announce(found[cursor].text);
  };
  const search = (asked, wholeWords = false) => {
    hits = [];
    hit = -1;
    const terms = [...new Set(asked.toLowerCase().split(/\s+/u).filter(Boolean))].sort((a, b) => b.length - a.length);
    if (terms.length) {
      const either = terms.map((term) => term.replace(/[\\^$.*+?()[\]{}|/]/gu, "\\$&")).join("|");
      const pattern = new RegExp(wholeWords ? `(?<![\\p{L}\\p{N}])(?:${either})(?![\\p{L}\\p{N}])` : either, "giu");
      for (const line of lines()) {
        for (const match of line.textContent.matchAll(pattern)) {
          hits.push(rangeIn(line, match.index, match.index + match[0].length));
          if (hits.length >= 2000) break;
        }
      }
    }
    paint("found", hits);
    paint("found-now", []);
    const inside = new Set(hits.map((range) => range.startContainer.parentElement.closest("[data-passage]"))).size;
    one("#hits", item()).textContent = !terms.length ? "" : hits.length ? `${hits.length} in ${inside} ${inside === 1 ? "passage" : "passages"}` : "not found";
    for (const name of ["#hit-before", "#hit-after"]) one(name, item()).hidden = !hits.length;
    if (hits.length) toHit(1);
  };
  const toHit = (by) => {
    if (!hits.length) return;
    hit = (hit + by + hits.length) % hits.length;
    cursor = -1;
    paint("reading", []);
    paint("found-now", [hits[hit]]);
    bring(hits[hit]);
  };
  const findWords = () => {
    const box = one("#find", item());
    const claim = one(".claim-text", item());
    if (!box || !claim) return;
    const told = claim.textContent.match(/[\p{L}\p{N}][\p{L}\p{N}.,'’-]*[\p{L}\p{N}]|\p{N}/gu) || [];
    const telling = told.filter((word, place) => word.length > 3 || /\p{N}/u.test(word) || (place && /\p{Lu}/u.test(word)));
    box.value = [...new Set(telling.length ? telling : told)].slice(0, 20).join(" ");
    search(box.value, true);
  };

  // A text has just come, with the evidence picked for it so far.
  const fresh = (evidence) => {
    picks = evidence;
    hits = [];
    hit = cursor = -1;
    cut = null;
    for (const name of LAYERS) paint(name, []);
    drawPicks();
  };
  const offer = () => {
    const button = one("#pick", item());
    if (button) button.hidden = !selected().length && cursor < 0;
  };

  return { fresh, pick, step, search, toHit, findWords, offer, get picks() { return picks; } };
};
