/** Reads and writes the state of a model in the `signature` of a block, or in the `data` of a redacted one. */
import type { State } from '../../conversation/conversation.ts'
import { textOf } from '../../wire/json.ts'
import { anyMaker, bareMaker, makerIn, seal, unseal, type StateText } from '../envelope.ts'

/** For clients: state of Anthropic as in its own API, that of others in an envelope. */
export const forClient: StateText = ({ maker, data }) => (maker === bareMaker ? data : seal(maker, data))

/** In place of a state that there is none of: Claude rejects thinking that it has not signed, and must not get it back. */
export const unsigned: string = seal(anyMaker, '')

/** For a vendor: its own state alone, because vendors reject what others have signed. */
export function forVendor(own: string): StateText {
  return ({ maker, data }) => (maker === own ? data : undefined)
}

/**
 * The state in a signature; undefined if there is none. `maker`: who made an answer. Its signatures come without an envelope,
 * and models other than Claude may have none, yet expect their thinking back.
 */
export function stateOf(
  signature: unknown,
  { maker = bareMaker, isAnswer = false }: { readonly maker?: string; readonly isAnswer?: boolean },
): State | undefined {
  const data = textOf(signature)
  if (data === unsigned) return undefined
  if (data === '') return isAnswer && maker !== bareMaker ? { maker, data } : undefined
  const sealed = makerIn(data)
  return sealed === undefined ? { maker, data } : { maker: sealed, data: unseal(data, sealed) ?? '' }
}
