import { createHash } from 'node:crypto'

const longestName = 64

/** The name of a tool in the chat, both in the list of tools and in earlier calls. Long names end with a hash. */
export function chatNameOf(name: string, namespace: string | null | undefined): string {
  const whole = namespace ? `${namespace}__${name}` : name
  if (whole.length <= longestName) return whole
  const hash = createHash('sha256').update(whole).digest('hex').slice(0, 8)
  return `${whole.slice(0, longestName - hash.length - 1)}_${hash}`
}
