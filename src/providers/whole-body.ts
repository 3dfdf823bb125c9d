import { Structure, type StructureCheck } from './answer-bounds.ts'
import { oversized, ProviderError } from './failure.ts'

/** Bodies up to this many bytes need no check of their structure: they cannot be deep or wide enough to matter. */
const harmlessBytes = 2_048

/** A response body that is kept until it is complete. Its size and structure are checked while it arrives. */
export class WholeBody {
  readonly #maxBytes: number
  readonly #check: StructureCheck | undefined
  #first: Buffer | undefined
  /** All pieces, if there are several. */
  #pieces: Buffer[] | undefined
  #size = 0
  #structure: Structure | undefined

  /** `check`: default the usual bounds. */
  constructor(maxBytes: number, check?: StructureCheck) {
    this.#maxBytes = maxBytes
    this.#check = check
  }

  /** Throws if the body exceeds a bound. */
  add(piece: Buffer): void {
    this.#size += piece.length
    try {
      this.#add(piece)
    } catch (error) {
      const isBilled = error instanceof ProviderError && error.billed !== undefined
      throw isBilled ? error.with({ billed: { bytes: this.#size } }) : error
    }
  }

  #add(piece: Buffer): void {
    if (this.#size > this.#maxBytes) throw tooLarge(this.#maxBytes)
    if (this.#first === undefined) this.#first = piece
    else if (this.#pieces === undefined) this.#pieces = [this.#first, piece]
    else this.#pieces.push(piece)
    if (this.#size <= harmlessBytes || this.#check === 'later') return
    if (this.#structure !== undefined) return this.#structure.add(piece)
    this.#structure = new Structure(this.#check)
    for (const each of this.#pieces ?? [piece]) this.#structure.add(each)
  }

  /** What has arrived so far, in pieces as it arrived. */
  get pieces(): readonly Buffer[] {
    return this.#pieces ?? (this.#first === undefined ? [] : [this.#first])
  }

  /** What has arrived so far, as one piece. */
  get bytes(): Buffer {
    if (this.#pieces === undefined) return this.#first ?? Buffer.alloc(0)
    const joinedBytes = Buffer.concat(this.#pieces, this.#size)
    this.#first = joinedBytes
    this.#pieces = undefined
    return joinedBytes
  }
}

/** The pieces as one; a single piece is not copied. */
export function joinedBytes(pieces: readonly Buffer[]): Buffer {
  return pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces)
}

/** The error for a response of more than `bytes` bytes. */
export function tooLarge(bytes: number): ProviderError {
  return oversized(`${bytes} bytes`, bytes)
}
