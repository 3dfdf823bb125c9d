/** The recorded digests: one entry a client and vendor, in it one line a feature, for JSON and for the stream. */
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { cells, type Cell, type Traffic } from './cells.ts'
import { vendors } from './vendors.ts'

const file = new URL('digests.json', import.meta.url)

/** By the client's and the vendor's name, then by the feature's. */
type Recorded = Record<string, Record<string, string>>

/** The digest of each cell, by its place in the file. */
export class Digests {
  readonly #digests: Map<string, string>

  private constructor(digests: Map<string, string>) {
    this.#digests = digests
  }

  static read(): Digests {
    const recorded = JSON.parse(readFileSync(file, 'utf8')) as Recorded
    const digests = new Map<string, string>()
    for (const cell of cells) {
      const { client, vendor, feature } = cell
      const { like = vendor } = vendors[vendor] as (typeof vendors)[string]
      const both = recorded[`${client} ${vendor}`]?.[feature.name] ?? recorded[`${client} ${like}`]?.[feature.name]
      const digest = both?.split(' ')[cell.stream ? 1 : 0]
      if (digest !== undefined) digests.set(keyOf(cell), digest)
    }
    return new Digests(digests)
  }

  /** The client, the vendor and the feature of each entry of the file. */
  static recorded(): string[] {
    const recorded = JSON.parse(readFileSync(file, 'utf8')) as Recorded
    return Object.entries(recorded).flatMap(([name, entry]) =>
      Object.keys(entry).map((feature) => `${name} ${feature}`),
    )
  }

  add(cell: Cell, traffic: Traffic): void {
    this.#digests.set(keyOf(cell), digestOf(traffic))
  }

  /** What differs at a cell: nothing, or the sides. */
  differs(cell: Cell, traffic: Traffic): string {
    const [before, now] = [this.#digests.get(keyOf(cell)), digestOf(traffic)]
    if (before === undefined) return 'is not recorded'
    const parts = [before.slice(0, 5) !== now.slice(0, 5) && 'request', before.slice(5) !== now.slice(5) && 'answer']
    return parts.filter(Boolean).join(' and ')
  }

  /** Writes the file. Cells that are the same as those of the vendor that theirs is `like` are left out. */
  write(): void {
    const recorded: Recorded = {}
    for (const { client, vendor, feature, stream } of cells) {
      if (stream) continue
      const { like = vendor } = vendors[vendor] as (typeof vendors)[string]
      const [both, base] = [vendor, like].map((name) =>
        [false, true]
          .map((streamed) => this.#digests.get(keyOf({ client, vendor: name, feature, stream: streamed })))
          .join(' '),
      )
      const entry = (recorded[`${client} ${vendor}`] ??= {})
      if (vendor === like || both !== base) entry[feature.name] = both as string
    }
    writeFileSync(file, `${JSON.stringify(recorded, null, 2)}\n`)
  }
}

function keyOf({ client, vendor, feature, stream }: Cell): string {
  return `${client} ${vendor} ${feature.name} ${stream ? 1 : 0}`
}

/** Five characters for what the vendor received, five for what the client got. */
function digestOf({ vendor, client }: Traffic): string {
  return [vendor, client].map((text) => createHash('sha256').update(text).digest('base64url').slice(0, 5)).join('')
}
