/**
 * What a vendor wants to see again on the next turn, on its way through the client: signatures, encrypted reasoning,
 * the reasoning itself. It travels in an envelope that names its maker, who alone gets it back, as it was; conversations
 * change their vendor, and vendors refuse what others have signed. It is not secret from the client.
 */
import type { Provider } from '../providers/contract.ts'

const mark = 'mh1.'

/** Instead of a maker: what every model can read. */
export const anyone = '*'

/** `text` is the maker's own, of any form. */
export function seal(maker: string, text: string): string {
  return `${mark}${nameOf(maker)}.${text}`
}

/** The text, for its maker; undefined for anybody else's, and for what is no envelope. */
export function unseal(sealed: unknown, maker: string): string | undefined {
  const head = `${mark}${nameOf(maker)}.`
  return typeof sealed === 'string' && sealed.startsWith(head) ? sealed.slice(head.length) : undefined
}

export function isSealed(value: unknown): value is string {
  return typeof value === 'string' && value.startsWith(mark)
}

/** Who can read what the answers of this provider carry. */
export function makerOf({ maker, name }: Pick<Provider, 'maker' | 'name'>): string {
  return maker ?? name
}

/** The name ends with the first dot. */
function nameOf(maker: string): string {
  return encodeURIComponent(maker).replaceAll('.', '%2E')
}
