/**
 * Ids of calls as the strictest vendors take them: unique, and words of few characters. Those that other vendors made are
 * neither.
 */
export class CallIds {
  readonly #ids = new Map<string, string>()
  readonly #taken = new Set<string>()
  /** The last number behind an id that stood for several calls: clients choose how often it does. */
  readonly #last = new Map<string, number>()

  add(id: string): string {
    const clean = id.replaceAll(/[^\w-]/g, '_') || 'call'
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
