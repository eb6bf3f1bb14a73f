// Figures of a row as columns of a table: of one recording a share and a value; of two the old value, the new one, the
// difference, and its per cent.
import { figure, percent, points, signedFigure } from "./format.js";
import { changeIn } from "./weigh.js";

/**
 * @template Item
 * @typedef {object} Column
 * @property {string} id by which rows are sorted
 * @property {string} key class of its cells
 * @property {string} title
 * @property {(item: Item) => string} cell
 * @property {((item: Item) => number)} [bar] part of the width
 * @property {((item: Item) => number)} [sign] less, as before, more
 * @property {boolean} [text]
 * @property {boolean} [wide] left out where there is little room
 */

/** @param {(item: unknown) => number[]} partsOf value of each group @returns {Column<unknown>[]} */
export function figureColumns({ profile, weights, unit, state }, id, title, partsOf) {
  if (profile.groups === 1) {
    const share = (item) => (weights.all[0] > 0 ? partsOf(item)[0] / weights.all[0] : 0);
    return [
      { id, key: id, title: `${title} %`, cell: (item) => percent(partsOf(item)[0], weights.all[0]), bar: share },
      { id, key: `${id}-value`, title, cell: (item) => figure(partsOf(item)[0], unit), wide: true },
    ];
  }
  const wide = id === "total";
  const sign = (item) => Math.sign(partsOf(item)[1] - partsOf(item)[0]);
  return [
    { id: `${id}Old`, key: `${id}-old`, title: `${title} old`, cell: (item) => figure(partsOf(item)[0], unit), wide: true },
    { id, key: `${id}-new`, title: `${title} new`, cell: (item) => figure(partsOf(item)[1], unit), wide: true },
    { id: `${id}Change`, key: `${id}-difference`, title: "Difference", cell: (item) => signedFigure(partsOf(item)[1] - partsOf(item)[0], unit), sign, wide },
    { id: `${id}Change`, key: `${id}-points`, title: "%", cell: (item) => points(changeIn(weights, state.shares, ...partsOf(item))), sign, wide },
  ];
}
