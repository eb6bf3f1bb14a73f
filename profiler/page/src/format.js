// Figures as people read them.

const grouped = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/** Three digits that count, and no more. */
function digits(value) {
  if (value >= 100) return value.toFixed(0);
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

function scaled(value, units) {
  for (const [size, name] of units) if (value >= size * 0.9995) return `${digits(value / size)} ${name}`;
  return `${digits(value)} ${units.at(-1)[1]}`;
}

export function duration(ns) {
  if (ns === 0) return "0 s";
  return scaled(ns, [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]]);
}

export function bytes(count) {
  return scaled(count, [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "B"]]);
}

/** @param {string} unit as the profile's types have it */
export function figure(value, unit) {
  const sign = value < 0 ? "−" : "";
  const size = Math.abs(value);
  if (unit === "nanoseconds") return sign + duration(size);
  if (unit === "bytes") return sign + bytes(size);
  return sign + grouped.format(size);
}

export function signedFigure(value, unit) {
  return (value > 0 ? "+" : "") + figure(value, unit);
}

export function percent(part, all) {
  return `${(all > 0 ? (100 * part) / all : 0).toFixed(2)} %`;
}

/** What changed, in points of a hundred. */
export function points(value) {
  return `${value > 0 ? "+" : value < 0 ? "−" : ""}${Math.abs(value).toFixed(2)}`;
}

/** A moment, as exact as a step of the time line. */
export function moment(ns, step) {
  const places = Math.max(0, Math.ceil(9 - Math.log10(step) - 1e-9));
  return `${(ns / 1e9).toFixed(Math.min(places, 3))} s`;
}

const HEAP = { alloc: "Allocated", inuse: "Live", peak: "At the peak", temporary: "Temporary" };

/** What a value is called. */
export function typeName({ type, unit }) {
  const [which, what] = type.split("_");
  if (HEAP[which] && what) return `${HEAP[which]}, ${what === "space" ? "bytes" : "blocks"}`;
  if (type === "cpu" && unit === "nanoseconds") return "CPU time";
  return type.replaceAll("_", " ").replace(/^./, (c) => c.toUpperCase());
}

/** What a value is called in an address. */
export function typeText({ type, unit }) {
  return `${type}-${unit}`;
}
