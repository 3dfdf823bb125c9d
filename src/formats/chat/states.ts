/** What a vendor with this wire wants back: fields of its messages and of their calls. */
import { toolId } from '../messages/tool-id.ts'
import { packState, stateFields, StateReader } from '../model-state.ts'
import type { Fields, State } from '../../conversation/conversation.ts'

/** The fields in which vendors send reasoning. */
export type ReasoningField = 'reasoning_content' | 'reasoning'

/**
 * The state of reasoning: fields of its message, and of the call after it. `field`: where the text of the reasoning was, which
 * the block has.
 */
export function messageState(
  maker: string,
  fields: Fields,
  field: ReasoningField | undefined,
  calls?: Readonly<Record<string, Fields>>,
): State {
  const message = field === undefined ? fields : { ...fields, [field]: '' }
  return { maker, data: packState(calls === undefined ? { message } : { message, calls }) }
}

/**
 * The state of a call, such as Gemini's signature; undefined if it has none. It has the call's id as clients of Messages know
 * it, who carry it apart from the call.
 */
export function callState(id: string, raw: Fields, maker: string): State | undefined {
  const fields = stateFields(raw)
  return Object.keys(fields).length === 0 ? undefined : { maker, data: packState({ calls: { [toolId(id)]: fields } }) }
}

const textOnly = new Set(['reasoning_content', 'reasoning'].map((name) => packState({ message: { [name]: '' } })))

/** Whether a state says no more than where the text of the reasoning was. */
export function isTextOnly({ data }: State): boolean {
  return textOnly.has(data)
}

/** A state that also holds the text of its reasoning, for clients that do not get it. */
export function withText({ maker, data }: State, text: string): State {
  const { message = {}, calls = {} } = new StateReader().unpack(data) ?? {}
  const field: ReasoningField =
    message['reasoning_content'] === undefined && message['reasoning'] !== undefined ? 'reasoning' : 'reasoning_content'
  const whole = { ...message, [field]: text }
  return { maker, data: packState(Object.keys(calls).length > 0 ? { message: whole, calls } : { message: whole }) }
}
