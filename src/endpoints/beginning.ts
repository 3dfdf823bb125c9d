/** What every turn of a conversation begins with. */
import { isRecord } from '../wire/json.ts'

/** Characters of each part: enough to tell conversations apart. */
const most = 8_192

/** The text of the instructions, and of the turns up to the first of the user. `turns` may be anything that a client sent. */
export function beginningOf(instructions: unknown, turns: unknown): string | undefined {
  const begun = textOf(instructions)
  if (typeof turns === 'string') return begun + textOf(turns)
  if (!Array.isArray(turns) || turns.length === 0) return undefined
  let text = begun
  for (const turn of turns as unknown[]) {
    if (!isRecord(turn)) continue
    text += textOf(turn['content'] ?? turn['parts'])
    if (turn['role'] === 'user') break
  }
  return text
}

/** Of a text, or of the texts of a list of parts. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value.slice(0, most)
  if (!Array.isArray(value)) return ''
  let text = ''
  for (const part of value as unknown[]) {
    const inner = isRecord(part) ? part['text'] : part
    if (typeof inner === 'string') text += inner.slice(0, most)
    if (text.length > most) break
  }
  return text
}
