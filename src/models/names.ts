/** Whether two names, each of which may end in `*`, can match the same model. */
export function meet(left: string, right: string): boolean {
  const [a, b] = [left.replace(/\*$/, ''), right.replace(/\*$/, '')]
  return a === b || (a !== left && b.startsWith(a)) || (b !== right && a.startsWith(b))
}
