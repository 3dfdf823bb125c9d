import { createHash } from 'node:crypto'

/** An id that Anthropic accepts in a later turn: the vendor's if possible. The gateway's own ids get the usual prefix. */
export function toolId(id: string): string {
  const own = /^call_([0-9a-f]{24})$/.exec(id)
  if (own !== null) return `toolu_${own[1]}`
  if (/^[\w-]{1,64}$/.test(id)) return id
  return `toolu_${createHash('sha256').update(id).digest('hex').slice(0, 24)}`
}
