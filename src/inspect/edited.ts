import type { Edit } from './contract.ts'

/** The text with replacements in ascending order. */
export function edited(text: string, edits: readonly Edit[]): string {
  let out = ''
  let at = 0
  for (const { start, end, text: instead } of edits) {
    out += text.slice(at, start) + instead
    at = end
  }
  return out + text.slice(at)
}
