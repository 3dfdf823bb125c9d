/**
 * Translates function names: the vendor accepts only names that begin with a letter or an underscore. Other names are
 * changed in the request, and changed back in the response. Source: the Gemini API reference, FunctionDeclaration.
 */
export class FunctionNames {
  readonly #toVendor = new Map<string, string>()
  readonly #toClient = new Map<string, string>()

  /** Valid names are kept; an invalid name never takes the place of a valid one. */
  constructor(names: readonly string[]) {
    for (const name of names) if (validName(name) === name) this.#add(name, name)
    for (const name of names) if (!this.#toVendor.has(name)) this.#add(name, this.#unused(validName(name)))
  }

  /** Whether any name is changed. */
  get areChanged(): boolean {
    for (const [name, vendorName] of this.#toVendor) if (name !== vendorName) return true
    return false
  }

  toVendor(name: string): string {
    return this.#toVendor.get(name) ?? validName(name)
  }

  /** A name that the client never declared was invented by the model, and is kept. */
  toClient(name: string): string {
    return this.#toClient.get(name) ?? name
  }

  #add(name: string, vendorName: string): void {
    this.#toVendor.set(name, vendorName)
    this.#toClient.set(vendorName, name)
  }

  #unused(name: string): string {
    let unused = name
    for (let count = 2; this.#toClient.has(unused); count++) unused = `${name.slice(0, maxLength - 8)}_${count}`
    return unused
  }
}

const maxLength = 64

function validName(name: string): string {
  const words = name.replaceAll(/[^\w.:-]/g, '_')
  return (/^[A-Za-z_]/.test(words) ? words : `_${words}`).slice(0, maxLength)
}
