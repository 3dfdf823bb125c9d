/**
 * Gemini's signatures in `extra_content` of messages and calls, as at Google's own endpoint for chats, whose clients send that
 * field back. The details have them too, for clients that drop the field.
 */
import { seal } from '../envelope.ts'
import { packState, StateReader } from '../model-state.ts'
import { isRecord } from '../../wire/json.ts'
import type { Fields, State } from '../../conversation/conversation.ts'

/** The maker whose states clients know in this field. */
const google = 'google'

/** The field of the message, or of the call, that a state belongs to; undefined if the state is another. */
export function extraContentIn({ maker, data }: State): Fields | undefined {
  if (maker !== google) return undefined
  const { message = {}, calls = {} } = new StateReader().read(seal(maker, data), maker) ?? {}
  return [message, ...Object.values(calls)].map((each) => each['extra_content']).find(isRecord)
}

/** Two fields as one: of signatures the last one counts, parts come one after the other. */
export function joinedExtraContent(before: Fields | undefined, more: Fields): Fields {
  const { [google]: first } = before ?? {}
  const { [google]: second } = more
  if (!isRecord(first) || !isRecord(second)) return { ...before, ...more }
  const parts = [first['parts'], second['parts']].flatMap((each) => (Array.isArray(each) ? (each as unknown[]) : []))
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
