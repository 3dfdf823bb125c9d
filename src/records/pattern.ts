/** Whether a pattern, which is a name or its beginning and `*`, matches a name. */
export function matches(pattern: string, name: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : pattern === name
}
