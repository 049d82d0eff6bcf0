// Labelling without waiting: what is said goes into an outbox, kept by the browser until the server has it, and the next
// text is there already. Every action has an id of its own, so that sending it again does nothing twice. Without this
// script the page is a form like any other.
import { reader } from "./reading.js";

(() => {
  const desk = document.getElementById("desk");
  if (!desk) return;
  const { base, who } = desk.dataset;
  const place = `everyclaim:${base}:${who}:`;
  const AHEAD = 6; // texts fetched before they are needed
  const PATIENCE = 20_000; // ms, for one answer of the server
  const AGAIN = 3_000; // ms, until it is asked again
  const PAUSE = 400; // ms after a press of a button in which another one is a slip: the text has changed under it

  const one = (selector, within = document) => within.querySelector(selector);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const item = () => document.getElementById("item");
  const keyHere = () => item()?.dataset.key || "";
  const address = (part, more = {}) => {
    const query = new URLSearchParams(who ? { who, ...more } : more);
    return `${base}/${part}?${query}`;
  };
  const announce = (text) => { one("#live").textContent = text; };
  const words = { SUPPORTED: "supported", UNSUPPORTED: "unsupported", CONTRADICTED: "contradicted", over_split: "over-split",
    under_split: "under-split", not_a_claim: "not checkable", lost_meaning: "lost meaning", skip: "skipped", withdraw: "removed" };
  const signs = { SUPPORTED: "✓", UNSUPPORTED: "?", CONTRADICTED: "✗" };

  // ---- kept by the browser

  const memory = {
    read(name) { try { return JSON.parse(localStorage.getItem(place + name)); } catch { return null; } },
    write(name, value) { try { localStorage.setItem(place + name, JSON.stringify(value)); return true; } catch { return false; } },
    drop(name) { try { localStorage.removeItem(place + name); } catch { /* there is none */ } },
    all(prefix) {
      try {
        return Object.keys(localStorage).filter((name) => name.startsWith(place + prefix)).map((name) => this.read(name.slice(place.length))).filter(Boolean);
      } catch { return []; }
    },
  };
  const newId = () => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

  // ---- what waits

  let state = JSON.parse(desk.dataset.state);
  let waiting = state.next; // keys, in order
  let csrf = desk.dataset.csrf;
  let loading = false;
  let lastPress = -PAUSE;
  const outbox = memory.all("out:").sort((a, b) => a.at - b.at);
  const fetched = new Map(); // key → the page's part for it, or the promise of it
  const sent = new Map(); // key → comment and evidence as they were sent, for whoever undoes it

  const drawState = () => {
    const pending = new Set(outbox.filter((act) => act.word !== "undo" && act.word !== "skip" && act.fresh).map((act) => act.key));
    const done = Math.min(state.total, state.done + pending.size);
    one("#far").value = done;
    const skipped = state.skipped ? `, ${state.skipped} skipped` : "";
    one("#counts").textContent = `${done} of ${state.total} done${skipped}`;
  };
  const tellKept = (text, late = false) => {
    const kept = one("#kept");
    if (kept.textContent !== text) kept.textContent = text;
    kept.classList.toggle("late", late);
  };

  // ---- sending

  let sending = false;
  let again = 0;
  const post = (act) => fetch(`${base}/do`, {
    method: "POST",
    headers: { accept: "application/json", "x-csrf-token": csrf },
    body: new URLSearchParams({ who, action: act.id, word: act.word, key: act.key, note: act.note || "", mode: act.mode || "", evidence: act.evidence || "" }),
    redirect: "manual",
    signal: AbortSignal.timeout(PATIENCE),
  });
  const renew = async () => { // the server was started again, or somebody logged in anew
    const reply = await fetch(address("desk"), { signal: AbortSignal.timeout(PATIENCE), redirect: "manual" });
    const page = new DOMParser().parseFromString(await reply.text(), "text/html");
    const found = page.getElementById("desk")?.dataset.csrf;
    const is_new = Boolean(found) && found !== csrf;
    if (is_new) csrf = found;
    return is_new;
  };

  const flush = async () => {
    if (sending) return;
    sending = true;
    clearTimeout(again);
    let wait = 0;
    while (outbox.length) {
      const act = outbox[0];
      let reply;
      try {
        reply = await post(act);
        if (reply.status === 403 && (await renew())) reply = await post(act);
        if (reply.status === 401 || reply.type === "opaqueredirect") { wait = AGAIN; tellKept("log in again in another tab; your labels are not lost", true); break; }
        if (reply.status >= 500 || reply.status === 429) throw new Error((await reply.json().catch(() => ({}))).error || `the server answered ${reply.status}`);
      } catch (error) {
        wait = AGAIN;
        const why = error.constructor === Error ? error.message : "no connection"; // the browser's own say nothing
        tellKept(`${why}: ${outbox.length} unsaved, retrying`, true);
        break;
      }
      let told = {};
      try { told = await reply.json(); } catch { /* a page, not an answer */ }
      outbox.shift();
      memory.drop(`out:${act.id}`);
      if (reply.ok) heard(act, told);
      else refused(act, told.error || `the server answered ${reply.status}`);
      tellKept(outbox.length ? "saving …" : reply.ok ? "saved" : "");
    }
    sending = false;
    drawState();
    if (wait) again = setTimeout(flush, wait);
  };

  const heard = (act, told) => {
    state = told.state;
    const pending = new Set(outbox.map((one) => one.key));
    const skipped = outbox.filter((one) => one.word === "skip").map((one) => one.key);
    waiting = [...state.next.filter((key) => !pending.has(key)), ...skipped];
    if (act.word === "undo" || act.word === "withdraw") {
      if (told.key) { fetched.delete(told.key); go(told.key, act.word === "undo" ? "Undone" : "Removed"); } else announce("Nothing to undo");
    } else if (told.judged && lastAct === act.id) {
      one("#last-judged").replaceChildren(Object.assign(document.createElement("span"), { className: "quiet", textContent: "· judge: " }), chip(told.judged.toUpperCase()));
      announce(`Saved. Judge's verdict ${told.judged}.`);
    }
    if (!keyHere() && !outbox.length) go(waiting[0] || "");
    prefetch();
  };

  const refused = (act, why) => {
    const fault = one("#fault");
    fault.hidden = false;
    fault.textContent = `Not saved: ${why}`;
    if (act.key) { waiting = [act.key, ...waiting.filter((key) => key !== act.key)]; fetched.delete(act.key); }
  };

  // ---- what is shown

  const part = (key) => {
    if (!fetched.has(key)) {
      fetched.set(key, fetch(address("item", key ? { at: key } : {}), { signal: AbortSignal.timeout(PATIENCE), redirect: "manual" })
        .then(async (reply) => {
          if (!reply.ok) throw new Error(String(reply.status));
          return reply.text();
        })
        .catch((error) => { fetched.delete(key); throw error; }));
    }
    return fetched.get(key);
  };
  const prefetch = async () => {
    for (const key of waiting.slice(0, AHEAD)) {
      if (key === keyHere() || fetched.has(key)) continue;
      try { await part(key); } catch { return; }
    }
    const near = new Set([...waiting.slice(0, 3 * AHEAD), keyHere()]);
    for (const key of fetched.keys()) if (!near.has(key)) fetched.delete(key);
  };

  let journey = 0;
  const go = async (key, said = "") => {
    const mine = (journey += 1);
    loading = true;
    let html;
    try { html = await part(key); } catch {
      if (mine !== journey) return;
      item().classList.add("left"); // and stays without an answer: what is shown has one
      tellKept("no connection: cannot load the next item", true);
      setTimeout(() => { if (mine === journey) go(key, said); }, AGAIN);
      return;
    }
    if (mine !== journey) return;
    if (!key) fetched.delete(key); // what comes next, or that nothing does: another time something else
    const made = document.createElement("template");
    made.innerHTML = html;
    item().replaceWith(one("#item", made.content));
    loading = false;
    dress();
    const head = one("h1", item());
    head.focus({ preventScroll: true });
    if (desk.getBoundingClientRect().top < 0) desk.scrollIntoView();
    if (said) announce(`${said}: ${head.textContent.trim()}`);
    history.replaceState(null, "", address("desk"));
    prefetch();
  };

  const chip = (word) => {
    const made = document.createElement("span");
    made.className = word in signs ? `label ${words[word]}` : "chip";
    made.textContent = word in signs ? `${signs[word]} ${words[word]}` : words[word];
    return made;
  };

  // ---- saying something

  let lastAct = "";
  const enqueue = (act) => {
    act.id = newId();
    act.at = Date.now();
    outbox.push(act);
    if (!memory.write(`out:${act.id}`, act)) addEventListener("beforeunload", (event) => { if (outbox.length) event.preventDefault(); });
    tellKept("saving …");
    flush();
  };

  const decide = (word) => {
    const shown = item();
    const key = keyHere();
    if (word === "undo") { enqueue({ word, key: "" }); return; }
    if (loading || !key) { announce("One moment"); return; }
    one("#fault").hidden = true;
    const act = { word, key, fresh: !("done" in shown.dataset) };
    if (word in words && word !== "skip" && word !== "withdraw") {
      act.note = one("#note", shown).value;
      act.mode = one("#mode", shown).value;
      if (word in signs) act.evidence = JSON.stringify(passages.picks.map((pick) => pick.slice(0, 3)));
      sent.set(key, { note: act.note, mode: act.mode, picks: [...passages.picks] });
    }
    waiting = waiting.filter((other) => other !== key);
    if (word === "skip") waiting.push(key);
    if (word === "withdraw") waiting.unshift(key);
    memory.drop(`draft:${key}`);
    fetched.delete(key);
    const claim = one(".claim-text", shown)?.textContent || one("h1", shown).textContent.trim();
    enqueue(act);
    lastAct = act.id;
    one("#last-claim").textContent = claim.length > 90 ? `${claim.slice(0, 88)}…` : claim;
    one("#last-said").replaceChildren(chip(word));
    one("#last-judged").replaceChildren();
    one("#last").hidden = false;
    one("#rule").hidden = true;
    announce(`${words[word]}`);
    drawState();
    if (word === "withdraw") return; // the answer brings it again
    if (waiting.length) go(waiting[0]);
    else if (outbox.length) { shown.dataset.key = ""; shown.classList.add("left"); } // the answer says what comes next
    else go("");
  };

  const keepDraft = () => {
    const key = keyHere();
    if (!key || "done" in item().dataset) return;
    const draft = { note: one("#note", item()).value, mode: one("#mode", item()).value, picks: passages.picks };
    if (draft.note || draft.mode || draft.picks.length) memory.write(`draft:${key}`, draft);
    else memory.drop(`draft:${key}`);
  };

  const passages = reader({ item, announce, changed: keepDraft });

  // ---- a text that has just come

  const dress = () => {
    const shown = item();
    if (!keyHere()) { passages.fresh([]); return; }
    const draft = "done" in shown.dataset ? null : memory.read(`draft:${keyHere()}`) || sent.get(keyHere());
    passages.fresh(draft?.picks || JSON.parse(shown.dataset.evidence));
    if (draft) {
      one("#note", shown).value = draft.note;
      one("#mode", shown).value = draft.mode;
      if (draft.note || draft.mode) one(".more", shown).open = true;
    }
    const about = one(".in-answer .about", shown);
    if (about) {
      const box = one(".in-answer", shown);
      box.scrollTop = about.offsetTop - box.offsetTop - box.clientHeight / 3;
    }
  };

  // ---- keys, buttons, selections

  let keysOn = memory.read("keys") !== false;
  const letterOf = (event) => {
    const digit = /^(?:Digit|Numpad)([1-4])$/u.exec(event.code); // also where digits need shift
    if (digit && !(event.key === "?" || event.key === "/")) return digit[1];
    if (/^[a-z?/]$/iu.test(event.key)) return event.key.toLowerCase();
    const letter = /^Key([A-Z])$/u.exec(event.code); // a keyboard of another script
    return letter && event.key.length === 1 && event.key > "\u007f" ? letter[1].toLowerCase() : event.key;
  };
  const openKeys = () => one("#keys").showModal();
  const badClaim = () => {
    const menu = one("details.bad", item());
    if (!menu) { announce("Whole answers have no split to review"); return; }
    menu.open = !menu.open;
    (menu.open ? one("button", menu) : one("summary", menu)).focus();
  };
  const actions = {
    1: () => decide("SUPPORTED"), 2: () => decide("UNSUPPORTED"), 3: () => decide("CONTRADICTED"),
    b: badClaim,
    s: () => { if (one('[value="skip"]', item())) decide("skip"); },
    u: () => decide("undo"),
    x: () => { if (one('[value="withdraw"]', item())) decide("withdraw"); },
    c: () => { one(".more", item()).open = true; one("#note", item()).focus(); },
    "/": () => one("#find", item())?.focus(),
    w: passages.findWords,
    n: () => passages.step(1), p: () => passages.step(-1),
    e: passages.pick,
    ArrowLeft: () => { if (item().dataset.before) go(item().dataset.before, "Previous"); else announce("This is the first"); },
    ArrowRight: () => { if (item().dataset.after) go(item().dataset.after, "Next"); else announce("This is the last"); },
    "?": openKeys,
  };
  document.addEventListener("keydown", (event) => {
    const field = event.target.closest("input, textarea, select");
    if (event.key === "Escape") {
      const menu = one("details.bad[open]", item());
      if (menu) { menu.open = false; one("summary", menu).focus(); } else if (field) one("h1", item()).focus();
      return;
    }
    if (field?.id === "find" && event.key === "Enter") { event.preventDefault(); passages.toHit(event.shiftKey ? -1 : 1); return; }
    if (field?.id === "note" && event.key === "Enter" && (event.ctrlKey || event.metaKey)) { one("h1", item()).focus(); return; }
    if (field || event.ctrlKey || event.metaKey || event.altKey || one("#keys").open || !keysOn) return;
    const letter = letterOf(event);
    const menu = one("details.bad[open]", item());
    if (menu && /^[1-4]$/u.test(letter)) {
      event.preventDefault();
      if (!event.repeat) decide(all("button", menu)[letter - 1].value);
      return;
    }
    if (!Object.hasOwn(actions, letter) || (!keyHere() && !["u", "?", "ArrowLeft"].includes(letter))) return;
    const box = event.target.closest(".scroll, .in-answer");
    if (box && box.scrollWidth > box.clientWidth && letter.startsWith("Arrow")) return; // it scrolls
    event.preventDefault();
    if (event.repeat && !["n", "p"].includes(letter)) return; // a key that is held is pressed once
    actions[letter]();
  });

  desk.addEventListener("submit", (event) => {
    if (event.target.id !== "said") return;
    event.preventDefault();
    const word = event.submitter?.value;
    if (!word) return;
    if (event.timeStamp - lastPress < PAUSE) return; // a double press
    lastPress = event.timeStamp;
    decide(word);
  });
  desk.addEventListener("click", (event) => {
    const pressed = event.target.closest("button");
    const what = {
      help: openKeys, words: passages.findWords, pick: passages.pick, "hit-before": () => passages.toHit(-1), "hit-after": () => passages.toHit(1),
    }[pressed?.id];
    const step = event.target.closest("#item a[aria-keyshortcuts]");
    if (step) event.preventDefault();
    (what || actions[step?.getAttribute("aria-keyshortcuts")])?.();
  });
  desk.addEventListener("input", (event) => {
    if (event.target.id === "find") passages.search(event.target.value);
    else if (event.target.id === "note" || event.target.id === "mode") keepDraft();
  });
  document.addEventListener("selectionchange", passages.offer);
  // A press takes the selection with it before the click comes.
  desk.addEventListener("pointerdown", (event) => { if (event.target.closest("#pick")) event.preventDefault(); });
  one("#keys-on").checked = keysOn;
  one("#keys-on").addEventListener("change", (event) => { keysOn = event.target.checked; memory.write("keys", keysOn); });
  one("#help").hidden = false;
  addEventListener("online", flush);
  addEventListener("storage", (event) => { if (event.key === `${place}keys`) keysOn = memory.read("keys") !== false; });

  dress();
  if (outbox.length) { // left over from a page that was closed
    const gone = new Set(outbox.map((act) => act.key));
    if (gone.has(keyHere()) && !new URLSearchParams(location.search).has("at")) {
      waiting = waiting.filter((key) => !gone.has(key));
      item().dataset.key = "";
    }
    flush();
  }
  prefetch();
})();
