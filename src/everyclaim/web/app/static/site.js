"use strict";
// What a page can do without asking the server. Everything here is comfort: pages work without it.
(() => {
  // A choice shows its result at once.
  document.addEventListener("change", (event) => {
    const form = event.target.closest("form[data-submits]");
    if (form) form.requestSubmit();
  });

  // Keys for the answers beside this one.
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select")) return;
    const link = document.querySelector(`a[data-key="${CSS.escape(event.key)}"]`);
    if (link) link.click();
  });

  // Charts to take along. Styles become attributes, so that the file looks the same anywhere.
  const LOOK = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-family", "font-size", "font-weight"];
  const drawing = (chart) => {
    const copy = chart.cloneNode(true);
    const parts = [chart, ...chart.querySelectorAll("*")];
    [copy, ...copy.querySelectorAll("*")].forEach((part, place) => {
      const look = getComputedStyle(parts[place]);
      for (const name of LOOK) part.setAttribute(name, look.getPropertyValue(name));
      part.removeAttribute("class");
    });
    const box = chart.viewBox.baseVal;
    const width = box && box.width ? box.width : chart.clientWidth;
    const height = box && box.height ? box.height : chart.clientHeight;
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    copy.setAttribute("width", width);
    copy.setAttribute("height", height);
    const ground = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    ground.setAttribute("width", "100%");
    ground.setAttribute("height", "100%");
    ground.setAttribute("fill", getComputedStyle(document.documentElement).backgroundColor);
    copy.prepend(ground);
    return { text: new XMLSerializer().serializeToString(copy), width, height };
  };
  const save = (blob, name) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  };
  const savers = {
    SVG: (chart, name) => save(new Blob([drawing(chart).text], { type: "image/svg+xml" }), `${name}.svg`),
    PNG: (chart, name) => {
      const { text, width, height } = drawing(chart);
      const image = new Image();
      const address = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
      image.onload = () => {
        const canvas = document.createElement("canvas");
        canvas.width = width * 3;
        canvas.height = height * 3;
        canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
        URL.revokeObjectURL(address);
        canvas.toBlob((blob) => save(blob, `${name}.png`), "image/png");
      };
      image.src = address;
    },
  };
  for (const caption of document.querySelectorAll("figure > figcaption")) {
    const chart = caption.parentElement.querySelector("svg.chart");
    if (!chart) continue;
    const title = chart.querySelector("title")?.textContent || "chart";
    const name = title.toLowerCase().replace(/[^a-z0-9]+/g, "-");
    for (const [kind, saver] of Object.entries(savers)) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = kind;
      button.setAttribute("aria-label", `Save “${title}” as ${kind}`);
      button.addEventListener("click", () => saver(chart, name));
      caption.append(button);
    }
  }
})();
