/**
 * What a model needs back in the next turn, such as signatures: the provider metadata of what it has said. It is packed as
 * by earlier versions, so that their conversations go on.
 */
import type { Block, State } from '../../../src/conversation/conversation.ts'
import { seal } from '../../../src/formats/envelope.ts'
import { packState, StateReader } from '../../../src/formats/model-state.ts'
import { fieldsOf, isRecord, type Fields } from '../../../src/wire/json.ts'

export interface Thought {
  readonly text: string
  readonly metadata: Fields
}

/** The metadata of one turn of the assistant. */
export interface TurnMetadata {
  readonly reasoning: readonly Thought[]
  readonly text: Fields | undefined
  /** By the id of the call. */
  readonly calls: ReadonlyMap<string, Fields>
}

export function reasoningState(maker: string, thought: Thought): State {
  return { maker, data: packState({ message: { extra_content: { ai_sdk: { reasoning: [thought] } } } }) }
}

export function textState(maker: string, metadata: Fields): State {
  return { maker, data: packState({ message: { extra_content: { ai_sdk: { metadata } } } }) }
}

export function callState(maker: string, id: string, metadata: Fields): State {
  return { maker, data: packState({ calls: { [id]: { extra_content: { ai_sdk: { metadata } } } } }) }
}

/** The metadata in the states of blocks, as far as `maker` has made them. */
export function metadataIn(blocks: readonly Block[], maker: string, reader: StateReader): TurnMetadata {
  const reasoning: Thought[] = []
  const calls = new Map<string, Fields>()
  let text: Fields | undefined
  for (const { state } of blocks) {
    if (state?.maker !== maker) continue
    const { message, calls: ofCalls } = reader.read(seal(maker, state.data), maker) ?? {}
    const said = carriedIn(message)
    for (const each of Array.isArray(said['reasoning']) ? (said['reasoning'] as unknown[]) : []) {
      const { text: thought, metadata } = fieldsOf(each)
      if (isRecord(metadata)) reasoning.push({ text: typeof thought === 'string' ? thought : '', metadata })
    }
    if (isRecord(said['metadata'])) text = said['metadata']
    for (const [id, fields] of Object.entries(ofCalls ?? {})) {
      const { metadata } = carriedIn(fields)
      if (isRecord(metadata)) calls.set(id, metadata)
    }
  }
  return { reasoning, text, calls }
}

function carriedIn(fields: Fields | undefined): Fields {
  return fieldsOf(fieldsOf(fields?.['extra_content'])['ai_sdk'])
}
