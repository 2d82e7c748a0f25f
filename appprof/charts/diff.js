// The level that the picture of moves shows is chosen by radio buttons.
{
  const views = [];
  const chosen = () => document.querySelector("input[name=level]:checked")?.value;
  const apply = () => views.forEach((view) => chosen() && view.signal("levels", [chosen()]).runAsync());
  for (const control of document.querySelectorAll(".controls")) {
    control.hidden = false;
    control.addEventListener("input", apply);
  }
  document.addEventListener("chart", ({detail}) => {
    if (!detail.name.startsWith("moves")) return;
    views.push(detail.view);
    apply();
  });
}
