// Search, filters and sorting: the table's rows decide what is shown, and the picture follows them.
{
  const body = document.querySelector("#kernels tbody");
  const rows = body ? [...body.rows] : [];
  const by = (id) => document.getElementById(id);
  const levels = [...document.querySelectorAll("[data-level]")];
  const views = new Map();

  const matches = (row) => {
    const needle = by("search").value.trim().toLowerCase();
    const phase = by("range")?.value ?? "";
    const path = by("precision")?.value ?? "";
    return (!needle || row.dataset.find.toLowerCase().includes(needle))
      && (!phase || JSON.parse(row.dataset.ranges).includes(phase))
      && (!path || row.dataset.path === path);
  };

  const apply = () => {
    const shown = rows.filter((row) => {
      row.hidden = !matches(row);
      return !row.hidden;
    });
    const all = shown.length === rows.length;
    by("count").value = all ? "" : `${shown.length} of ${rows.length} kernels`;
    for (const [name, view] of views) {
      view.signal("shown", all ? null : shown.map((row) => row.dataset.id));
      if (name === "roofline") view.signal("levels", levels.filter((box) => box.checked).map((box) => box.dataset.level));
      view.runAsync();
    }
  };

  const point = (id) => {
    const row = rows.find((row) => row.dataset.id === id);
    if (!row) return;
    rows.forEach((other) => other.classList.toggle("named", other === row));
    row.querySelector("details").open = true;
    row.scrollIntoView({block: "nearest"});
    row.querySelector("summary").focus({preventScroll: true});
  };

  const sort = (head) => {
    const down = head.getAttribute("aria-sort") !== "descending" && head.dataset.first !== "ascending"
      || head.getAttribute("aria-sort") === "ascending";
    for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const value = (row) => row.cells[head.cellIndex].dataset.v ?? "";
    const numbers = head.classList.contains("n");
    rows.sort((a, b) => {
      const [x, y] = [value(a), value(b)];
      // What is not known stands last, whichever way.
      if (x === "" || y === "") return (x === "") - (y === "");
      return (numbers ? x - y : x.localeCompare(y)) * (down ? -1 : 1);
    });
    body.append(...rows, ...[...body.rows].filter((row) => !rows.includes(row)));
  };

  if (rows.length) {
    for (const control of document.querySelectorAll(".controls")) control.hidden = false;
    document.querySelector(".controls")?.addEventListener("input", apply);
    for (const button of document.querySelectorAll("#kernels thead button"))
      button.addEventListener("click", () => sort(button.closest("th")));
  }
  document.addEventListener("chart", ({detail}) => {
    if (detail.name !== "roofline" && detail.name !== "instructions") return;
    views.set(detail.name, detail.view);
    detail.view.addEventListener("click", (event, item) => item?.datum?.id && point(item.datum.id));
    if (rows.length && by("search")) apply();
  });
}
