/** Options by name: a slip of the pen is told, lest a default stands in silence for what was meant. */

/** The names of all options of a type: the compiler sees to it that none is missing. */
export type Known<Options> = Readonly<Record<keyof Options, true>>

/** Throws a `TypeError` that names an option which is none, and those that are. Options left undefined do not count. */
export function refuseUnknown<Options extends object>(place: string, given: Options, known: Known<Options>): void {
  if (typeof given !== 'object' || given === null) throw new TypeError(`${place}: the options must be an object.`)
  const stray = Object.entries(given).find(([name, value]) => value !== undefined && !Object.hasOwn(known, name))
  if (stray !== undefined) throw new TypeError(`${place}: ${noneOf([stray[0]], Object.keys(known))}`)
}

export function noneOf(names: readonly string[], known: readonly string[]): string {
  return `there is no ${names.map((name) => `"${name}"`).join(', ')}. Known are ${known.join(', ')}.`
}
