// Colours of frames. They are made in OKLCH, where equal steps look equal, and are given as #rrggbb.
import { isMark } from "./profile.js";

/** @returns {string} #rrggbb of a colour in OKLCH; what a screen cannot show is cut off */
export function oklch(lightness, chroma, hue) {
  const a = chroma * Math.cos((hue * Math.PI) / 180);
  const b = chroma * Math.sin((hue * Math.PI) / 180);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const linear = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
  const channel = (v) => {
    const c = v <= 0.0031308 ? 12.92 * v : 1.055 * v ** (1 / 2.4) - 0.055;
    return Math.round(255 * Math.min(1, Math.max(0, c))).toString(16).padStart(2, "0");
  };
  return `#${linear.map(channel).join("")}`;
}

/** Hues that stay apart, the heaviest module's first. */
const HUES = [62, 250, 155, 20, 310, 200, 110, 340, 280, 45];
/** Two shades, so that neighbours of one module differ. */
const SHADES = { light: [[0.86, 0.085], [0.83, 0.095]], dark: [[0.72, 0.095], [0.685, 0.1]] };
const GREY = { light: [[0.87, 0.006], [0.84, 0.006]], dark: [[0.64, 0.008], [0.61, 0.008]] };

const KINDS = [
  { name: "program", hue: 62 },
  { name: "library", hue: 250 },
  { name: "inlined", hue: 155 },
  { name: "made at run time", hue: 310 },
  { name: "no name", hue: 20 },
  { name: "not there", hue: -1 },
];

/** Less, unchanged, more. Blue and orange differ for colour-blind readers too. */
const CHANGE_STEPS = 5;
const LESS_HUE = 250;
const MORE_HUE = 55;

function shade(hue, which, theme) {
  const [lightness, chroma] = (hue < 0 ? GREY : SHADES)[theme][which];
  return oklch(lightness, chroma, hue < 0 ? 85 : hue);
}

/** @param {number} change from -1 to 1: changeOf() */
export function changeColour(change, theme) {
  const step = Math.round(Math.abs(change) * CHANGE_STEPS) / CHANGE_STEPS;
  const hue = change < 0 ? LESS_HUE : MORE_HUE;
  if (step === 0) return shade(-1, 0, theme);
  return theme === "light" ? oklch(0.92 - 0.17 * step, 0.04 + 0.11 * step, hue) : oklch(0.66 + 0.03 * step, 0.045 + 0.085 * step, hue);
}

/** What is full colour: so many points of a hundred. */
const MOST_POINTS = 10;

/**
 * A change is coloured by its share of all: one of a function that hardly counts stays pale.
 *
 * @param {number} points of a hundred @returns {number} from -1 to 1; small changes are lifted
 */
export function changeOf(points) {
  return Math.sign(points) * Math.sqrt(Math.min(1, Math.abs(points) / MOST_POINTS));
}

/** Modules from the heaviest to the lightest, by self. */
function rankModules(profile, self) {
  const weights = new Float64Array(profile.modules.name.length);
  self.forEach((v, f) => {
    if (profile.functionModule[f] >= 0) weights[profile.functionModule[f]] += v;
  });
  return [...weights.keys()].sort((a, b) => weights[b] - weights[a]).map((module) => ({ module, weight: weights[module] }));
}

/** The kind of each function: an index of KINDS. */
function functionKinds(profile) {
  const { places } = profile;
  const kinds = new Uint8Array(profile.names.length);
  const outOfLine = new Uint8Array(profile.names.length);
  const made = new Uint8Array(profile.names.length);
  for (let p = 0; p < places.function.length; p++) {
    if (!places.inlined[p]) outOfLine[places.function[p]] = 1;
    if (places.kind[p] === 1) made[places.function[p]] = 1;
  }
  for (let f = 0; f < kinds.length; f++) {
    if (isMark(profile, f)) kinds[f] = 5;
    else if (made[f]) kinds[f] = 3;
    else if (!profile.functionKnown[f]) kinds[f] = 4;
    else if (!outOfLine[f]) kinds[f] = 2;
    else kinds[f] = isProgram(profile, profile.functionModule[f]) ? 0 : 1;
  }
  return kinds;
}

/** A module whose path is a recorded process's program. */
function isProgram(profile, module) {
  const path = profile.strings[profile.modules.path[module]];
  return profile.threads.some((t) => t.program === path) || !/(\.so([.\d]*)?$|^\[)/.test(path);
}

function hashOf(name) {
  let h = 0;
  for (let i = 0; i < name.length && i < 200; i++) h = (h * 31 + name.charCodeAt(i)) | 0;
  return h;
}

/**
 * @param {"module"|"kind"|"change"} by
 * @param {Float64Array} self of each function, of all that was recorded: colours stay when something else is chosen
 * @returns {{colours: string[], legend: {name: string, colour: string, share: number}[], entries: number[]}} of each function its
 *   colour, and its entry of the legend, which lists every colour
 */
export function functionColours(profile, by, self, theme) {
  const shades = profile.names.map((name) => hashOf(name) & 1);
  const legend = new Map();
  const all = self.reduce((a, b) => a + b, 0);
  const entries = []; // of each function
  const note = (name, colour, weight) => {
    const entry = legend.get(name) ?? { name, colour, share: 0 };
    entry.share += all > 0 ? weight / all : 0;
    legend.set(name, entry);
    entries.push(entry);
  };
  let hueOf;
  if (by === "kind") {
    const kinds = functionKinds(profile);
    hueOf = (f) => KINDS[kinds[f]].hue;
    self.forEach((v, f) => note(KINDS[kinds[f]].name, shade(hueOf(f), 0, theme), v));
  } else {
    const hues = new Map(rankModules(profile, self).map(({ module }, i) => [module, HUES[i] ?? -1]));
    hueOf = (f) => (isMark(profile, f) ? -1 : hues.get(profile.functionModule[f]));
    self.forEach((v, f) => {
      const module = profile.functionModule[f];
      const name = module < 0 ? "not there" : profile.strings[profile.modules.name[module]] || "no module";
      note(hueOf(f) < 0 && module >= 0 ? "other modules" : name, shade(hueOf(f), 0, theme), v);
    });
  }
  const sorted = [...legend.values()].sort((a, b) => b.share - a.share);
  const places = new Map(sorted.map((entry, i) => [entry, i]));
  return {
    colours: profile.names.map((_, f) => shade(hueOf(f), shades[f], theme)),
    legend: sorted,
    entries: entries.map((entry) => places.get(entry)),
  };
}
