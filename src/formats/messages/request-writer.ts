import { createHash } from 'node:crypto'
import type { Conversation, Fields, Settings } from '../../conversation/conversation.ts'
import { anthropicExtras } from '../../providers/costs/lists.ts'
import type { MessageTraits } from '../../providers/message-traits.ts'
import { unsupportedValue } from '../../providers/unsupported.ts'
import { fieldsOf } from '../../wire/json.ts'
import { clientName } from '../field-names.ts'
import type { Target } from '../format.ts'
import { writeThinking } from './thinking-writer.ts'
import { ToolWriter } from './tool-writer.ts'
import { TurnWriter } from './turn-writer.ts'

/** Writes the body of `POST /v1/messages`. */
/** Fields of chats that are written too. */
export const chatFields: ReadonlySet<string> = new Set([...anthropicExtras, 'thinking', 'safety_identifier'])

export function writeRequest(conversation: Conversation, to: Target<MessageTraits>): Fields {
  const { settings, own, output } = conversation
  const { claude } = to.traits
  const { max, stops, stream, tier } = settings
  const limit = max ?? to.max ?? claude?.maxTokens
  const body: Record<string, unknown> = { model: to.model }
  if (limit !== undefined) body['max_tokens'] = limit
  const { system, messages } = new TurnWriter(to).write(conversation.turns)
  if (system !== undefined) body['system'] = system
  body['messages'] = messages
  const writer = new ToolWriter(to)
  const format = writer.outputFormat(output)
  Object.assign(body, writer.write(conversation))
  const { thinking, effort } = writeThinking(conversation, to, limit ?? 0, messages)
  Object.assign(body, writeSampling(settings, to, thinking !== undefined && thinking['type'] !== 'disabled'))
  const given = own?.messages ?? {}
  add(body, 'thinking', thinking, given)
  const config: Record<string, unknown> = {}
  if (effort !== undefined) config['effort'] = effort
  if (format !== undefined) config['format'] = format
  add(body, 'output_config', config, given)
  if (stops !== undefined) body['stop_sequences'] = stops
  add(body, 'metadata', metadataFor(conversation, to), given)
  // The gateway has already rejected those that the host neither allows nor sets.
  for (const name of anthropicExtras) body[name] = own?.chat?.[name] ?? undefined
  if (tier !== undefined) body['service_tier'] = tierOf(tier, to)
  if (stream === true) body['stream'] = true
  for (const name in given) body[name] ??= given[name]
  return body
}

/** Adds an object with the fields that only this wire has. */
function add(body: Record<string, unknown>, name: string, fields: Fields | undefined, given: Fields): void {
  const all = { ...fields, ...fieldsOf(given[name]) }
  if (Object.keys(all).length > 0) body[name] = all
}

function tierOf(tier: string, to: Target<MessageTraits>): string {
  if (tier === 'auto') return tier
  if (tier === 'default' || tier === 'standard_only') return 'standard_only'
  throw unsupportedValue({ publicModel: to.model }, clientName(to, 'tier'), 'it must be "auto" or "default".')
}

/**
 * The vendor rejects user ids that are longer than 256 characters, or that are e-mail addresses or telephone numbers. The
 * id is only a hint and must not fail the request, so anything that is not an opaque token is replaced by its hash.
 */
function metadataFor({ settings, own }: Conversation, { traits }: Target<MessageTraits>): Fields | undefined {
  const safety = own?.chat?.['safety_identifier'] ?? own?.responses?.['safety_identifier']
  const id = typeof safety === 'string' && safety !== '' ? safety : settings.user
  if (id === undefined || id === '') return undefined
  const isOpaque = traits.claude === undefined || (/^[\w.:|/=-]{1,256}$/.test(id) && !isTelephoneNumber(id))
  return { user_id: isOpaque ? id : createHash('sha256').update(id).digest('hex') }
}

function isTelephoneNumber(text: string): boolean {
  return /^[\d.-]+$/.test(text) && /^\d{7,15}$/.test(text.replaceAll(/\D/g, ''))
}

const advice = {
  temperature: 'use a value between 0 and 1; omit it if the model reasons or does not support it.',
  topP: 'omit it, or omit "temperature".',
  topK: 'omit it.',
}
const names = { temperature: 'temperature', topP: 'top_p', topK: 'top_k' } as const

/** `thinks`: whether the model thinks before it answers. */
function writeSampling(
  { temperature, topP, topK }: Settings,
  to: Target<MessageTraits>,
  thinks: boolean,
): Record<string, number> {
  const { claude, sampling = 'fit' } = to.traits
  const written: Record<string, number> = {}
  const asked = { temperature, topP, topK }
  for (const field of Object.keys(names) as (keyof typeof names)[]) {
    const value = asked[field]
    if (value === undefined) continue
    if (claude === undefined) {
      written[names[field]] = value
      continue
    }
    // 1 is the default of every model.
    if (value === 1 && field !== 'topK') continue
    const isSecond = field === 'topP' && claude.sampling === 'one' && temperature !== undefined && temperature !== 1
    const isRejected = claude.sampling === 'none' || thinks || isSecond
    const fitted = field === 'temperature' ? Math.min(value, 1) : value
    if (!isRejected && fitted === value) {
      written[names[field]] = value
      continue
    }
    const name = clientName(to, field)
    if (sampling === 'refuse') throw unsupportedValue({ publicModel: to.model }, name, advice[field])
    to.omit(name, thinks ? 'the model reasons' : advice[field])
    if (!isRejected) written[names[field]] = fitted
  }
  return written
}
