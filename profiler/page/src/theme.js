// Dark and light: the system's choice, until the switch says otherwise.
const dark = matchMedia("(prefers-color-scheme: dark)");

/** @returns {"light"|"dark"} */
export function themeOf(state) {
  return state.theme || (dark.matches ? "dark" : "light");
}

export function onSystemTheme(run) {
  dark.addEventListener("change", run);
}

/** Colours of canvases, as the style sheet has them. */
export function inkOf(theme) {
  document.documentElement.dataset.theme = theme;
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(`--${name}`).trim();
  return {
    theme,
    ground: colour("graph-ground"),
    ink: colour("graph-ink"),
    paleInk: colour("pale-ink"),
    outline: colour("ink"),
    rest: colour("graph-rest"),
    hit: colour("hit"),
    hitInk: colour("hit-ink"),
    accent: colour("accent"),
    pale: Number(colour("pale")),
    bars: colour("bars"),
    line: colour("line"),
    quiet: colour("quiet"),
    veil: colour("veil"),
    memory: { used: colour("accent"), held: colour("more"), resident: colour("quiet") },
    groups: [colour("less"), colour("more")],
    font: `11px ${style.getPropertyValue("--font")}`,
  };
}
