// A box that a button opens, and that Escape or a click elsewhere closes.

export class Popup {
  /** @param {HTMLElement} button @param {HTMLElement} box @param {() => void} [onopen] */
  constructor(button, box, onopen = () => box.querySelector("button")?.focus()) {
    this.button = button;
    this.box = box;
    this.onopen = onopen;
    button.addEventListener("click", () => this.toggle());
    box.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      this.toggle(false);
      button.focus();
      event.stopPropagation();
    });
    document.addEventListener("pointerdown", (event) => {
      if (!box.hidden && !box.contains(event.target) && !button.contains(event.target)) this.toggle(false);
    });
  }

  toggle(open = this.box.hidden) {
    this.box.hidden = !open;
    this.button.setAttribute("aria-expanded", String(open));
    if (open) this.onopen();
  }
}
