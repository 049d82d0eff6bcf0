// The list of answers: filtered, searched, ordered and paged over an index; only the answers on screen are unpacked.
"use strict";
(async () => {
  const list = document.getElementById("entries");
  const source = document.getElementById("index");
  if (!list || !source) return;
  const PAGE = 20;
  const [POSITION, FLAGS, MODES, TAGS, TEXT] = [1, 2, 3, 4, 5];
  const form = document.getElementById("controls");
  const status = document.getElementById("status");
  const pager = document.getElementById("pager");

  const unpack = async (text) => {
    const bytes = Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    return new Response(stream).text();
  };

  let index;
  try {
    index = JSON.parse(await unpack(source.textContent));
  } catch (error) {
    status.textContent = "This browser is too old to unpack the list; the worst answers are below.";
    return;
  }
  const chunks = document.querySelectorAll("script.chunk");
  const unpacked = new Map();

  const chunk = (number) => {
    if (!unpacked.has(number)) {
      if (unpacked.size > 64) unpacked.clear();
      unpacked.set(number, unpack(chunks[number].textContent).then((text) => text.split("\0")));
    }
    return unpacked.get(number);
  };
  const html = async (place) => (await chunk(Math.floor(place / index.together)))[place % index.together];

  const tagged = new Map(index.tags.map(([name, value], place) => [`${name}=${value}`, place]));
  let found = [];
  let page = 0;

  const select = () => {
    const chosen = new FormData(form);
    const words = chosen.get("search").toLowerCase().split(/\s+/).filter(Boolean);
    const flag = chosen.get("show") === "" ? 0 : Number(chosen.get("show"));
    const mode = chosen.get("mode") ? 1 << index.modes.indexOf(chosen.get("mode")) : 0;
    const tag = chosen.get("tag") ? tagged.get(chosen.get("tag")) ?? -1 : null;
    found = [];
    index.answers.forEach((row, place) => {
      if (flag && !(row[FLAGS] & flag)) return;
      if (mode && !(row[MODES] & mode)) return;
      if (tag !== null && !row[TAGS].includes(tag)) return;
      if (words.some((word) => !row[TEXT].includes(word))) return;
      found.push(place);
    });
    if (chosen.get("order") !== "input") found.sort((a, b) => index.answers[a][0] - index.answers[b][0]);
  };

  let latest = 0;
  const draw = async ({ open = false } = {}) => {
    const turn = ++latest;
    const shown = found.slice(page * PAGE, (page + 1) * PAGE);
    const parts = await Promise.all(shown.map(html));
    if (turn !== latest) return;
    list.innerHTML = parts.join("");
    const all = index.answers.length;
    const of = found.length === all ? `${all.toLocaleString("en")} answers` : `${found.length.toLocaleString("en")} of ${all.toLocaleString("en")} answers`;
    const pages = Math.max(1, Math.ceil(found.length / PAGE));
    status.textContent = found.length ? `${of}, page ${page + 1} of ${pages}` : `No answer is like that: ${of}`;
    pager.hidden = pages < 2;
    pager.querySelector("[name=previous]").disabled = page === 0;
    pager.querySelector("[name=next]").disabled = page + 1 >= pages;
    pager.querySelector("span").textContent = `page ${page + 1} of ${pages}`;
    if (open && list.firstElementChild) {
      list.firstElementChild.open = true;
      const failing = list.firstElementChild.querySelector(".finding.contradicted, .finding.unsupported");
      if (failing) failing.open = true;
    }
  };

  const update = () => { page = 0; select(); return draw(); };
  const turn = async (by) => {
    page += by;
    await draw();
    document.getElementById("answers").scrollIntoView();
    list.querySelector("summary")?.focus({ preventScroll: true });
  };

  // A link to an answer opens it, wherever the list is.
  const follow = async () => {
    const wanted = /^#(a(\d+))(-[cp]\d+)?$/.exec(location.hash);
    if (!wanted || document.getElementById(location.hash.slice(1))?.closest("details[open].entry")) return false;
    const place = index.answers.findIndex((row) => row[POSITION] === Number(wanted[2]));
    if (place < 0) return false;
    if (!list.querySelector(`#${wanted[1]}`)) {
      form.reset();
      select();
      page = Math.floor(found.indexOf(place) / PAGE);
      await draw();
    }
    const entry = document.getElementById(wanted[1]);
    entry.open = true;
    const part = wanted[3] && document.getElementById(location.hash.slice(1));
    if (part) part.open = true;
    (part || entry).scrollIntoView();
    (part || entry).querySelector("summary").focus({ preventScroll: true });
    return true;
  };

  form.addEventListener("input", update);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.querySelector("[name=clear]").addEventListener("click", () => { form.reset(); update(); });
  pager.querySelector("[name=previous]").addEventListener("click", () => turn(-1));
  pager.querySelector("[name=next]").addEventListener("click", () => turn(1));
  addEventListener("hashchange", follow);

  // Numbers that stand for answers lead to them.
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-mode], a[data-tag], a[data-show]");
    if (!link) return;
    form.reset();
    for (const name of ["mode", "tag", "show"]) if (link.dataset[name] !== undefined) form.elements[name].value = link.dataset[name];
    update();
  });

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select, textarea")) return;
    const step = { j: 1, k: -1 }[event.key];
    if (event.key === "/") {
      event.preventDefault();
      form.elements.search.focus();
    } else if (step) {
      const entries = [...list.querySelectorAll("details.entry > summary")];
      const at = entries.findIndex((one) => one.parentElement.contains(document.activeElement));
      const next = entries[Math.min(entries.length - 1, Math.max(0, at + step))];
      if (next) { next.focus(); next.scrollIntoView({ block: "nearest" }); }
    }
  });

  form.hidden = false;
  document.documentElement.classList.add("scripted");
  select();
  if (!(await follow())) await draw({ open: true });
})();
