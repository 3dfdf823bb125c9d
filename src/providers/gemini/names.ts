/**
 * Names of functions as the vendor takes them: they begin with a letter or an underscore. Others are changed on the way
 * there and changed back in the answer. Source: the Gemini API reference, FunctionDeclaration.
 */
export class FunctionNames {
  readonly #there = new Map<string, string>()
  readonly #back = new Map<string, string>()

  /** Names that need no change keep their own, whatever the others become. */
  constructor(names: readonly string[]) {
    for (const name of names) if (fitting(name) === name) this.#add(name, name)
    for (const name of names) if (!this.#there.has(name)) this.#add(name, this.#free(fitting(name)))
  }

  there(name: string): string {
    return this.#there.get(name) ?? fitting(name)
  }

  /** A name that was never offered is the model's invention, and stays. */
  back(name: string): string {
    return this.#back.get(name) ?? name
  }

  #add(name: string, there: string): void {
    this.#there.set(name, there)
    this.#back.set(there, name)
  }

  #free(name: string): string {
    let free = name
    for (let count = 2; this.#back.has(free); count++) free = `${name.slice(0, longest - 8)}_${count}`
    return free
  }
}

const longest = 64

function fitting(name: string): string {
  const words = name.replaceAll(/[^\w.:-]/g, '_')
  return (/^[A-Za-z_]/.test(words) ? words : `_${words}`).slice(0, longest)
}
