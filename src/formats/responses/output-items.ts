/** Output items for clients: whole, or as far as they are written. */
import type { CallBlock, Fields, ReasoningBlock, State } from '../../conversation/conversation.ts'
import { detailOf, isSignature } from '../chat/details.ts'
import { withText } from '../chat/states.ts'
import { packState } from '../model-state.ts'
import { writeClientCall } from './client-tools.ts'
import { reasoningItem } from './item-writer.ts'
import { innerName } from './names.ts'
import { forClient, isPacked, unsigned } from './state.ts'

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete'

/** The prefix of an item's id. */
export const prefixes = {
  message: 'msg',
  reasoning: 'rs',
  function: 'fc',
  custom: 'ctc',
  client: 'ctc',
  image: 'ig',
} as const

export type ItemKind = keyof typeof prefixes

/** `response`: the id of the response. Ids are the same for the same answer, streamed or not. */
export function itemId(kind: ItemKind, response: string, index: number): string {
  return `${prefixes[kind]}_${response.replace('resp_', '')}${index.toString(16).padStart(2, '0')}`
}

export function messageItem(id: string, status: ItemStatus, content: readonly Fields[], own?: Fields): Fields {
  return { id, type: 'message', status, content, role: 'assistant', ...own }
}

export function textPart(text: string, annotations: readonly Fields[], logprobs: readonly unknown[]): Fields {
  return { type: 'output_text', text, annotations, logprobs }
}

/** Some clients drop the text of reasoning, which some models want back with it. */
export function writtenReasoning(
  id: string,
  { text, form, state }: Pick<ReasoningBlock, 'text' | 'form' | 'state'>,
  asSummary: boolean,
): Fields {
  const whole = state === undefined ? unsigned : forClient(withReasoning(state, text, form))
  return { id, ...reasoningItem(text, asSummary, whole) }
}

function withReasoning(state: State, text: string, form: ReasoningBlock['form']): State {
  if (isPacked(state.data)) return text === '' ? state : withText(state, text)
  if (!isSignature(state.maker)) return state
  const block = { kind: 'reasoning', length: 0, text, form } as const
  return { maker: state.maker, data: packState({ message: { reasoning_details: [detailOf(block, state, 0)] } }) }
}

/** What identifies a call to the client. */
export type Called = Pick<CallBlock, 'id' | 'name' | 'by' | 'own'>

/** Whether a call is of a tool that the client runs and whose calls are items of their own. */
export function kindOfCall({ by, own }: Called): 'function' | 'custom' | 'client' {
  return own?.responses?.['call'] === undefined ? by : 'client'
}

export function callItem(id: string, status: ItemStatus, call: Called, input: string): Fields {
  const { call: type, raw: _, ...more } = call.own?.responses ?? {}
  const head = { id, status, call_id: call.id }
  if (typeof type === 'string') {
    const said = writeClientCall(type, input)
    if (said !== undefined) return { ...head, type, ...said }
  }
  const name = innerName(more['namespace'], call.name)
  if (call.by === 'custom') return { ...head, name, ...more, type: 'custom_tool_call', input }
  return { ...head, name, ...more, type: 'function_call', arguments: input }
}

export function imageItem(id: string, status: string, base64: string | null): Fields {
  return { id, type: 'image_generation_call', status, result: base64 }
}
