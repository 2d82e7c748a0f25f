// Draws every chart of the page, again when the window (not the paper) becomes narrow or wide. Colours are CSS variables.
const {charts, datasets} = JSON.parse(document.getElementById("charts").textContent);
const narrow = matchMedia("screen and (max-width: 720px)");
const options = {renderer: "svg", ast: true, actions: false, tooltip: {disableDefaultStyle: true}};

async function draw() {
  const views = Object.entries(charts).map(async ([name, pair]) => {
    const {view} = await window.vegaEmbed(`#chart-${name}`, {...pair[narrow.matches ? 1 : 0], datasets}, options);
    document.dispatchEvent(new CustomEvent("chart", {detail: {name, view}}));
  });
  await Promise.all(views);
  document.documentElement.dataset.charts = narrow.matches ? "narrow" : "wide";
}

narrow.addEventListener("change", draw);
draw();
