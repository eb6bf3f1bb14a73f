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

/**
 * Lightness, chroma and hue of modules' colours, the heaviest module's first. They are as far apart as ten can be, from each other and
 * from the grey, for readers without red or green cones as well: these see two hues, so lightness differs, too. Text on each has a
 * contrast of 4.5. Found by a search for the largest smallest distance in OKLab; test/words.test.js checks it.
 */
const PALETTE = {
  light: [[0.84, 0.12, 60], [0.81, 0.12, 255], [0.9, 0.09, 120], [0.66, 0.09, 210], [0.75, 0.09, 30], [0.69, 0.12, 270], [0.69, 0.12, 90], [0.87, 0.12, 210],
    [0.66, 0.05, 15], [0.75, 0.05, 195]],
  dark: [[0.71, 0.12, 60], [0.68, 0.12, 255], [0.83, 0.12, 105], [0.83, 0.12, 180], [0.65, 0.12, 30], [0.8, 0.12, 285], [0.62, 0.12, 90], [0.74, 0.05, 195],
    [0.62, 0.09, 315], [0.77, 0.12, 30]],
};
const GREY = { light: [0.87, 0.006, 85], dark: [0.64, 0.008, 85] };
/** Two shades, so that neighbours of one module differ. */
const DARKER = 0.02;
const NONE = -1;

const KINDS = [
  { name: "program", colour: 0 },
  { name: "library", colour: 1 },
  { name: "inlined", colour: 2 },
  { name: "made at run time", colour: 3 },
  { name: "no name", colour: 4 },
  { name: "not there", colour: NONE },
  { name: "Python", colour: 5 },
];

/** Less, unchanged, more. Blue and orange differ for colour-blind readers too. */
const CHANGE_STEPS = 5;
const LESS_HUE = 250;
const MORE_HUE = 55;

/** @param {number} colour of the palette; NONE: grey @param {0|1} which shade */
function shade(colour, which, theme) {
  const [lightness, chroma, hue] = colour < 0 ? GREY[theme] : PALETTE[theme][colour];
  return oklch(lightness - DARKER * which, chroma, hue);
}

/** @param {number} change from -1 to 1: changeOf() */
export function changeColour(change, theme) {
  const step = Math.round(Math.abs(change) * CHANGE_STEPS) / CHANGE_STEPS;
  const hue = change < 0 ? LESS_HUE : MORE_HUE;
  if (step === 0) return shade(NONE, 0, theme);
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
  const python = new Uint8Array(profile.names.length);
  for (let p = 0; p < places.function.length; p++) {
    if (!places.inlined[p]) outOfLine[places.function[p]] = 1;
    if (places.kind[p] === 1) made[places.function[p]] = 1;
    if (places.kind[p] === 3) python[places.function[p]] = 1;
  }
  for (let f = 0; f < kinds.length; f++) {
    if (isMark(profile, f)) kinds[f] = 5;
    else if (python[f]) kinds[f] = 6;
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
  let colourOf;
  if (by === "kind") {
    const kinds = functionKinds(profile);
    colourOf = (f) => KINDS[kinds[f]].colour;
    self.forEach((v, f) => note(KINDS[kinds[f]].name, shade(colourOf(f), 0, theme), v));
  } else {
    const places = new Map(rankModules(profile, self).map(({ module }, i) => [module, i < PALETTE[theme].length ? i : NONE]));
    colourOf = (f) => (isMark(profile, f) ? NONE : places.get(profile.functionModule[f]));
    self.forEach((v, f) => {
      const module = profile.functionModule[f];
      const name = module < 0 ? "not there" : profile.strings[profile.modules.name[module]] || "no module";
      note(colourOf(f) < 0 && module >= 0 ? "other modules" : name, shade(colourOf(f), 0, theme), v);
    });
  }
  const sorted = [...legend.values()].sort((a, b) => b.share - a.share);
  const order = new Map(sorted.map((entry, i) => [entry, i]));
  return {
    colours: profile.names.map((_, f) => shade(colourOf(f), shades[f], theme)),
    legend: sorted,
    entries: entries.map((entry) => order.get(entry)),
  };
}
