/**
 * A JSON number that a JavaScript number can't hold without changing it. Handlers get it instead of a rounded value and
 * pass `lexeme` on to a numeric or text column (design §3 Numbers).
 */
export class ExactNumber {
  constructor(readonly lexeme: string) {
    Object.freeze(this);
  }

  toString(): string {
    return this.lexeme;
  }

  toJSON(): never {
    // Serialising it as a JSON number again would need the lexeme verbatim; refusing beats rounding.
    throw new Error("an exact number has no JavaScript JSON form");
  }
}
