/** Measures parsed JSON, without recursion. */
import { tooDeep, tooManyParts } from './json-limits.ts'
import type { Sizes } from './sizes.ts'

/** The members and items of a value, at all levels: fewer than in its text if that has duplicate keys. */
export function countEntries(root: unknown): number {
  const open = [root]
  let entries = 0
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== 'object' || next === null) continue
    const parts: unknown[] = Array.isArray(next) ? next : Object.values(next)
    entries += parts.length
    for (const part of parts) if (typeof part === 'object') open.push(part)
  }
  return entries
}

/** Throws 400 for a value that exceeds `sizes`. */
export function checkValue(root: object, sizes: Sizes): void {
  const open: { value: object; depth: number }[] = [{ value: root, depth: 1 }]
  let nodes = 0
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next.depth > sizes.jsonDepth) throw tooDeep(sizes)
    const parts: unknown[] = Array.isArray(next.value) ? next.value : Object.values(next.value)
    nodes += parts.length
    if (parts.length > sizes.jsonEntries || nodes > sizes.jsonNodes) throw tooManyParts(sizes)
    for (const part of parts) {
      if (typeof part === 'object' && part !== null) open.push({ value: part, depth: next.depth + 1 })
    }
  }
}
