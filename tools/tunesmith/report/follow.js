// Of a page that `report --follow` serves.

/** What a reader has chosen is kept. */
function reportAgain() {
  const keyOf = (details) => details.id || [details.closest(".task")?.id, details.closest("figure")?.querySelector("figcaption").textContent, details.querySelector("summary").textContent].join(" ");
  const open = new Map([...document.querySelectorAll("details")].map((details) => [keyOf(details), details.open]));
  const chosen = ["search", "order"].map((id) => [id, document.getElementById(id)?.value]);
  const [focused, top] = [document.activeElement.id, window.scrollY];
  report();
  for (const which of ["details.task", "details:not(.task)"]) {
    for (const details of document.querySelectorAll(which)) {
      const was = open.get(keyOf(details));
      if (was) details.reveal();
      if (was === false) details.open = false;
    }
  }
  for (const [id, value] of chosen.filter(([, value]) => value)) {
    const input = document.getElementById(id);
    if (input) input.value = value;
    input?.dispatchEvent(new Event(id === "search" ? "input" : "change"));
  }
  redraw();
  if (focused) document.getElementById(focused)?.focus({preventScroll: true});
  window.scrollTo(window.scrollX, top);
}

/** Asks for the data again for as long as it is shown. Nobody's selection of text is lost. */
async function follow(version) {
  const wait = 1000;
  let fault = "";
  try {
    if (window.getSelection().isCollapsed) {
      const answer = await fetch("data.json", {headers: {"If-None-Match": version}});
      if (answer.status === 200) {
        data = await answer.json();
        version = answer.headers.get("ETag");
        reportAgain();
      } else if (answer.status !== 304) fault = await answer.text();
    }
  } catch (error) {
    fault = `Live updates stopped: ${error.message}.`;
  }
  document.getElementById("kept").textContent = fault;
  setTimeout(follow, wait, version);
}

follow("");
