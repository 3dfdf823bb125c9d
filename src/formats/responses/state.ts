/** State in the `encrypted_content` of items: bare at the vendor that made it, in an envelope at clients. */
import { isSealed, makerIn, seal, unseal, type StateText } from '../envelope.ts'
import { isSignature } from '../chat/details.ts'
import { readAssistant } from '../chat/assistant.ts'
import type { StateReader } from '../model-state.ts'
import type { Block, State } from '../../conversation/conversation.ts'

/** Whose state it is that a client sends without an envelope: nobody's that the gateway knows. */
export const unknownMaker = 'responses'

/** Of reasoning that nobody wants back. Vendors with this wire must see that it is not theirs. */
const noMaker = 'none'
export const unsigned: string = seal(noMaker, '')

/** The state of an item. `maker`: who has made one without an envelope. */
export function stateOf(encrypted: unknown, maker: string): State | undefined {
  if (typeof encrypted !== 'string' || encrypted === '') return undefined
  if (!isSealed(encrypted)) return { maker, data: encrypted }
  const sealedBy = makerIn(encrypted)
  const data = sealedBy === undefined ? undefined : unseal(encrypted, sealedBy)
  if (sealedBy === undefined || data === undefined || sealedBy === noMaker) return undefined
  return { maker: sealedBy, data }
}

export const forClient: StateText = ({ maker, data }) => seal(maker, data)

export function forVendor(own: string): StateText {
  return ({ maker, data }) => (maker === own && !isPacked(data) ? data : undefined)
}

/** Whether a state was made by a chat of the same maker: a JSON object in base64. */
export function isPacked(data: string): boolean {
  return data.startsWith('eyJ')
}

/**
 * Thinking in a state that has the details of a chat's message, as the blocks that it consists of; undefined for any other
 * state. Earlier versions made one state of all thinking of a message.
 */
export function unpacked({ maker, data }: State, states: StateReader, place: string): readonly Block[] | undefined {
  if (!isSignature(maker) || !isPacked(data)) return undefined
  const details = states.unpack(data)?.message?.['reasoning_details']
  if (!Array.isArray(details)) return []
  return readAssistant({ reasoning_details: details }, place).blocks.filter(({ kind }) => kind === 'reasoning')
}
