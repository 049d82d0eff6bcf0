"use strict";
// What a page can do without asking the server. Everything here is comfort: pages work without it.
document.addEventListener("change", (event) => {
  const form = event.target.closest("form[data-submits]");
  if (form) form.requestSubmit();
});
