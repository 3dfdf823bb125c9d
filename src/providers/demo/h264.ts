/**
 * H.264 of the plainest kind (ITU-T H.264, baseline profile): the first picture uncompressed, in every further one only
 * the blocks that changed. No encoder is needed for that, and every player shows it.
 */

/** One picture in 4:2:0, its sides padded to whole blocks of 16. */
export interface Picture {
  /** Blocks across and down. */
  readonly across: number
  readonly down: number
  /** 16 × 16 luma, 8 × 8 blue and 8 × 8 red bytes of one block, 384 in all, none below 4. */
  readonly block: (x: number, y: number) => Uint8Array
}

/** Writes bits, the variable-length numbers of H.264, and keeps bytes from looking like the start of a unit. */
class Bits {
  readonly #pieces: Uint8Array[] = []
  #bytes: number[] = []
  #open = 0
  #count = 0
  #zeros = 0

  bits(value: number, count: number): this {
    for (let at = count - 1; at >= 0; at--) {
      this.#open = (this.#open << 1) | ((value >> at) & 1)
      if (++this.#count === 8) {
        this.#byte(this.#open)
        this.#open = this.#count = 0
      }
    }
    return this
  }

  /** ue(v): Exp-Golomb. */
  number(value: number): this {
    const length = 32 - Math.clz32(value + 1)
    return this.bits(0, length - 1).bits(value + 1, length)
  }

  align(): this {
    return this.#count === 0 ? this : this.bits(0, 8 - this.#count)
  }

  /** Bytes of which none is below 4: they need no care. */
  samples(bytes: Uint8Array): this {
    this.#pieces.push(Uint8Array.from(this.#bytes), bytes)
    this.#bytes = []
    this.#zeros = 0
    return this
  }

  unit(header: number): Buffer {
    this.bits(1, 1).align()
    return Buffer.concat([Uint8Array.of(header), ...this.#pieces, Uint8Array.from(this.#bytes)])
  }

  #byte(byte: number): void {
    if (this.#zeros >= 2 && byte <= 3) {
      this.#bytes.push(3)
      this.#zeros = 0
    }
    this.#bytes.push(byte)
    this.#zeros = byte === 0 ? this.#zeros + 1 : 0
  }
}

/** The sequence and picture parameter sets. `width` and `height` are even. */
export function parameterSets(width: number, height: number): { sequence: Buffer; picture: Buffer } {
  const across = Math.ceil(width / 16)
  const down = Math.ceil(height / 16)
  const sequence = new Bits().bits(66, 8).bits(0xc0, 8).bits(40, 8)
  sequence.number(0).number(0).number(2).number(1).bits(0, 1)
  sequence
    .number(across - 1)
    .number(down - 1)
    .bits(0b11, 2)
  const [right, bottom] = [(across * 16 - width) / 2, (down * 16 - height) / 2]
  if (right + bottom === 0) sequence.bits(0, 1)
  else sequence.bits(1, 1).number(0).number(right).number(0).number(bottom)
  sequence.bits(0, 1)
  const picture = new Bits().number(0).number(0).bits(0, 2).number(0).number(0).number(0)
  picture.bits(0, 3).number(0).number(0).number(0).bits(0b100, 3)
  return { sequence: sequence.unit(0x67), picture: picture.unit(0x68) }
}

/** A picture that stands alone. */
export function wholePicture(picture: Picture): Buffer {
  const bits = new Bits().number(0).number(7).number(0).bits(0, 4).number(0).bits(0, 2).number(0).number(1)
  for (let y = 0; y < picture.down; y++) {
    for (let x = 0; x < picture.across; x++) bits.number(25).align().samples(picture.block(x, y))
  }
  return bits.unit(0x65)
}

/** A picture of which only the given blocks differ from the one before; `index` counts from 1. */
export function changedPicture(picture: Picture, index: number, changed: ReadonlySet<number>): Buffer {
  const bits = new Bits()
    .number(0)
    .number(5)
    .number(0)
    .bits(index % 16, 4)
    .bits(0, 3)
    .number(0)
    .number(1)
  let skipped = 0
  for (let block = 0; block < picture.across * picture.down; block++) {
    if (!changed.has(block)) skipped++
    else {
      bits.number(skipped).number(30).align()
      bits.samples(picture.block(block % picture.across, Math.floor(block / picture.across)))
      skipped = 0
    }
  }
  if (skipped > 0) bits.number(skipped)
  return bits.unit(0x41)
}
