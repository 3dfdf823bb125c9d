/**
 * What is used besides tokens. A new unit that vendors count is a line of `CountedUnits`, of `CountedPrices` and of
 * `countedUnits`: receipts, usage records, prices, holds and caps follow.
 */

/** Units of which a vendor says the number in the usage of its response, in a field of the same name. */
export interface CountedUnits {
  /** Characters of text that were spoken. */
  readonly characters?: number
  /** Pages of documents that were read. */
  readonly pages?: number
}

/** The prices of these units, in decimal strings. */
export interface CountedPrices {
  /** Per million characters of text that is spoken. */
  readonly characters?: string
  /** Per page of a document. */
  readonly page?: string
}

interface CountedUnit {
  /** What the documentation says of the unit. */
  readonly says: string
  /** The part of a price that charges for it, and the number that this part is for. */
  readonly part: keyof CountedPrices
  readonly per: number
  /** How many a hold assumes of a request that does not say it. */
  readonly assumed: number
  /** The most that one request can have used. */
  readonly most: number
}

export const countedUnits: Readonly<Record<keyof CountedUnits, CountedUnit>> = {
  characters: {
    says: 'Characters of text that were spoken.',
    part: 'characters',
    per: 1_000_000,
    assumed: 0,
    most: 10_000_000,
  },
  pages: { says: 'Pages of documents that were read.', part: 'page', per: 1, assumed: 10, most: 100_000 },
}

export const countedNames = Object.keys(countedUnits) as readonly (keyof CountedUnits)[]

/** The parts of prices that charge for these units. */
export const countedParts: readonly (keyof CountedPrices)[] = countedNames.map((name) => countedUnits[name].part)

/** Usage that is not measured in tokens. */
export interface Units extends CountedUnits {
  /** Number of images generated. */
  readonly images?: number
  /** Seconds of audio or video. If the vendor does not report them, they are read from the recording's headers, or else estimated from its size. */
  readonly seconds?: number
  /** Units without a field, by name: `search` of rerank, and what endpoints of the host count. Their prices are the part `units`. */
  readonly own?: Readonly<Record<string, number>>
  /** Size of the images, such as `1024x1024`. */
  readonly size?: string
  /** Quality of the images, such as `hd`. */
  readonly quality?: string
}

/** The units of a response: those that its usage counts, and others. Undefined if there are none. */
export function unitsOf(usage: object | undefined, others: Units | undefined): Units | undefined {
  const counts = Object(usage) as Readonly<Record<string, unknown>>
  let units = others
  for (const name of countedNames) {
    const count = counts[name]
    if (typeof count === 'number' && count > 0) units = { ...units, [name]: count }
  }
  return units
}
