// The list of answers: filtered, searched, ordered and paged over an index; only the answers on screen are unpacked.
"use strict";
(async () => {
  const list = document.getElementById("entries");
  const source = document.getElementById("index");
  if (!list || !source) return;
  const PAGE = 20;
  const [RANK, POSITION, FLAGS, MODES, TAGS] = [0, 1, 2, 3, 4];
  const form = document.getElementById("controls");
  const status = document.getElementById("status");
  const pager = document.getElementById("pager");

  // Base 85 with an alphabet that means nothing in HTML, of deflated text.
  const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%:()*+-;,=.?@^_`{|}~";
  const VALUES = new Uint8Array(128);
  for (let place = 0; place < 85; place++) VALUES[DIGITS.charCodeAt(place)] = place;
  const bytesOf = (text) => {
    const bytes = new Uint8Array(Math.ceil(text.length / 5) * 4);
    const view = new DataView(bytes.buffer);
    for (let at = 0; at < text.length; at += 5) {
      let value = 0;
      for (let place = at; place < at + 5; place++) value = value * 85 + (place < text.length ? VALUES[text.charCodeAt(place)] : 84);
      view.setUint32((at / 5) * 4, value);
    }
    return bytes.subarray(0, bytes.length - (text.length % 5 ? 5 - (text.length % 5) : 0));
  };
  const unpack = async (text) => {
    const stream = new Blob([bytesOf(text)]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
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

  // What is searched is what is shown: the words of an answer, its claims and passages, without their tags.
  const SIGNS = { "&lt;": "<", "&gt;": ">", "&amp;": "&", "&#34;": '"', "&#39;": "'" };
  const words = new Map();
  const told = async (place) => {
    if (!words.has(place)) {
      const plain = (await html(place)).replace(/<[^>]*>/g, " ").replace(/&(?:lt|gt|amp|#34|#39);/g, (sign) => SIGNS[sign]);
      words.set(place, plain.replace(/\s+/g, " ").toLowerCase());
    }
    return words.get(place);
  };

  const tagged = new Map(index.tags.map(([name, value], place) => [`${name}=${value}`, place]));
  let found = [];
  let page = 0;

  let search = 0;
  // Find what is wanted; false when something else was wanted meanwhile.
  const select = async () => {
    const turn = ++search;
    const chosen = new FormData(form);
    const wanted = chosen.get("search").toLowerCase().split(/\s+/).filter(Boolean);
    const flag = Number(chosen.get("show"));
    const mode = chosen.get("mode") ? 1 << index.modes.indexOf(chosen.get("mode")) : 0;
    const tag = chosen.get("tag") ? tagged.get(chosen.get("tag")) ?? -1 : null;
    let fitting = index.answers.map((_, place) => place).filter((place) => {
      const row = index.answers[place];
      return (!flag || row[FLAGS] & flag) && (!mode || row[MODES] & mode) && (tag === null || row[TAGS].includes(tag));
    });
    if (wanted.length) {
      status.textContent = "searching …";
      const kept = [];
      for (const place of fitting) {
        const text = await told(place);
        if (turn !== search) return false;
        if (wanted.every((word) => text.includes(word))) kept.push(place);
      }
      fitting = kept;
    }
    if (chosen.get("order") !== "input") fitting.sort((a, b) => index.answers[a][RANK] - index.answers[b][RANK]);
    found = fitting;
    return true;
  };

  let latest = 0;
  const draw = async ({ open = false } = {}) => {
    const turn = ++latest;
    const shown = found.slice(page * PAGE, (page + 1) * PAGE);
    const parts = await Promise.all(shown.map(html));
    if (turn !== latest) return;
    list.innerHTML = parts.join("");
    const all = index.answers.length;
    const count = `${all.toLocaleString("en")} ${all === 1 ? "answer" : "answers"}`;
    const of = found.length === all ? count : `${found.length.toLocaleString("en")} of ${count}`;
    const pages = Math.max(1, Math.ceil(found.length / PAGE));
    status.textContent = found.length ? `${of}, page ${page + 1} of ${pages}` : `No matching answers: ${of}`;
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

  const update = async () => {
    if (!(await select())) return;
    page = 0;
    await draw();
  };
  const turn = async (by) => {
    page += by;
    await draw();
    document.getElementById("answers").scrollIntoView();
    list.querySelector("summary")?.focus({ preventScroll: true });
  };

  // A link to an answer opens it, wherever the list is.
  const follow = async () => {
    const wanted = /^#(a(\d+))(-[cp]\d+)?$/.exec(location.hash);
    const target = document.getElementById(location.hash.slice(1));
    if (!wanted || (latest && target?.closest("details[open].entry"))) return false;
    const place = index.answers.findIndex((row) => row[POSITION] === Number(wanted[2]));
    if (place < 0) return false;
    if (!latest || !list.querySelector(`#${wanted[1]}`)) {
      form.reset();
      await select();
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
  await select();
  if (!(await follow())) await draw({ open: true });
})();
