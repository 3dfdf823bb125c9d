/**
 * State that a vendor expects back on the next turn, such as signatures and encrypted reasoning, on its way through the
 * client. It is wrapped in an envelope with the name of its maker, and passed on to that maker only: a conversation may
 * change vendors, and vendors reject what others have signed. The client can read it.
 */
import type { State } from '../conversation/conversation.ts'
import type { Provider } from '../providers/contract.ts'

const mark = 'mh1.'

/** In place of a maker: every model can read it. */
export const anyMaker = '*'

/** The maker whose signatures travel without an envelope, as in its own API: every bare signature is taken for one of it. */
export const bareMaker = 'anthropic'

/** The text for a state; undefined for a reader that must not get it. */
export type StateText = (state: State) => string | undefined

/** Wraps `text`, which may have any format, in an envelope. */
export function seal(maker: string, text: string): string {
  return `${mark}${nameOf(maker)}.${text}`
}

/** The text in an envelope of this maker; undefined for that of another maker, and for anything but an envelope. */
export function unseal(sealed: unknown, maker: string): string | undefined {
  const head = `${mark}${nameOf(maker)}.`
  return typeof sealed === 'string' && sealed.startsWith(head) ? sealed.slice(head.length) : undefined
}

/** Whether a value is an envelope, of any maker. */
export function isSealed(value: unknown): value is string {
  return typeof value === 'string' && value.startsWith(mark)
}

/** The maker whose envelope a value is; undefined for anything but an envelope. */
export function makerIn(value: unknown): string | undefined {
  const name = isSealed(value) ? /^mh1\.([^.]*)\./.exec(value)?.[1] : undefined
  try {
    return name === undefined ? undefined : decodeURIComponent(name)
  } catch {
    return undefined
  }
}

/** The name in the envelopes of this provider, which providers of one vendor may share. */
export function makerOf({ maker, name }: Pick<Provider, 'maker' | 'name'>): string {
  return maker ?? name
}

/** A dot ends the name, so dots in it are escaped. */
function nameOf(maker: string): string {
  return encodeURIComponent(maker).replaceAll('.', '%2E')
}
