/** Maximum length of an id before its suffix, the same as in OpenAI's API. */
const longestId = 64

/**
 * Replaces the ids of tool calls by ids that the strictest vendors accept: unique, short, and without special characters. Ids from
 * other vendors may be neither.
 */
export class CallIds {
  readonly #ids = new Map<string, string>()
  readonly #taken = new Set<string>()
  /** The last suffix for each repeated id. Clients choose the number of repetitions, so counting must not start over. */
  readonly #last = new Map<string, number>()

  add(id: string): string {
    const clean = id.slice(0, longestId).replaceAll(/[^\w-]/g, '_') || 'call'
    let count = this.#last.get(clean) ?? 1
    let unique = count === 1 ? clean : `${clean}_${count}`
    while (this.#taken.has(unique)) unique = `${clean}_${++count}`
    this.#last.set(clean, count)
    this.#taken.add(unique)
    this.#ids.set(id, unique)
    return unique
  }

  find(id: string): string {
    return this.#ids.get(id) ?? id
  }
}
