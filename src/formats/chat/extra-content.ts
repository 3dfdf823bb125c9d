/**
 * Gemini's signatures in `extra_content` of messages and calls, as at Google's own endpoint for chats, whose clients send that
 * field back. The details have them too, for clients that drop the field.
 */
import { packState, StateReader } from '../model-state.ts'
import { isRecord, itemsOf } from '../../wire/json.ts'
import type { Block, Fields, State } from '../../conversation/conversation.ts'

/** The maker whose states clients know in this field. */
const google = 'google'

/** The field of the message, or of the call, that a state belongs to; undefined if the state is another. */
export function extraContentIn({ maker, data }: State): Fields | undefined {
  if (maker !== google) return undefined
  const { message = {}, calls = {} } = new StateReader().unpack(data) ?? {}
  return [message, ...Object.values(calls)].map((each) => each['extra_content']).find(isRecord)
}

/** The field of a message with these blocks; undefined if none has such a state. */
export function extraContentOf(blocks: Iterable<Pick<Block, 'kind' | 'state'>>): Fields | undefined {
  let extra: Fields | undefined
  for (const { kind, state } of blocks) {
    const more = kind === 'call' || state === undefined ? undefined : extraContentIn(state)
    if (more !== undefined) extra = joinedExtraContent(extra, more)
  }
  return extra
}

/** Two fields as one: of signatures the last one counts, parts come one after the other. */
function joinedExtraContent(before: Fields | undefined, more: Fields): Fields {
  const { [google]: first } = before ?? {}
  const { [google]: second } = more
  if (!isRecord(first) || !isRecord(second)) return { ...before, ...more }
  const parts = [first['parts'], second['parts']].flatMap((each) => itemsOf(each))
  return { ...before, ...more, [google]: { ...first, ...second, ...(parts.length > 0 && { parts }) } }
}

/** The state in the field of a message, or of the call `callId`. */
export function stateOfExtraContent(extra: unknown, callId?: string): State | undefined {
  if (!isRecord(extra) || !isRecord(extra[google])) return undefined
  const fields = { extra_content: extra }
  return {
    maker: google,
    data: packState(callId === undefined ? { message: fields } : { calls: { [callId]: fields } }),
  }
}
