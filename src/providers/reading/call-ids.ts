/**
 * Ids of calls as the strictest vendors take them: unique, and words of few characters. Those that other vendors made are
 * neither.
 */
export class CallIds {
  readonly #ids = new Map<string, string>()
  readonly #taken = new Set<string>()

  add(id: string): string {
    const clean = id.replaceAll(/[^\w-]/g, '_') || 'call'
    let unique = clean
    for (let count = 2; this.#taken.has(unique); count++) unique = `${clean}_${count}`
    this.#taken.add(unique)
    this.#ids.set(id, unique)
    return unique
  }

  find(id: string): string {
    return this.#ids.get(id) ?? id
  }
}
