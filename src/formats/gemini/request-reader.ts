/** Reads the body of `generateContent`. Throws 400 with the place. Source: the Gemini API reference, v1beta. */
import { entryIn, isRecord, itemsOf, numberOf, textOf } from '../../wire/json.ts'
import { invalid } from '../../errors.ts'
import type {
  Block,
  Conversation,
  Fields,
  ReasoningBlock,
  TextBlock,
  Turn,
  Output,
  Reasoning,
  Settings,
} from '../../conversation/conversation.ts'
import { asOwn, others } from '../../conversation/own.ts'
import { camelFields, itemsAt, recordAt } from './fields.ts'
import { saidFields, numbers, saidOfConfig } from './field-names.ts'
import { CallIds, readParts } from './parts-reader.ts'
import { readTools } from './tools-reader.ts'
import { readStops } from '../../providers/reading/parts.ts'
import { readNumbers } from '../field-names.ts'
import { effortIn } from '../reasoning.ts'
import { jsonSchemaOf } from './open-api-schema.ts'

export function readRequest(body: Fields): Conversation {
  const request = camelFields(body)
  const config = recordAt(request['generationConfig'] ?? {}, 'generationConfig')
  const { output, rest: format } = readOutput(config)
  const { settings, rest } = readSettings(config, request['serviceTier'])
  const { tools, toolChoice, rest: toolConfig } = readTools(request['tools'], request['toolConfig'])
  const own: Record<string, unknown> = { ...others(request, saidFields) }
  const generationConfig = { ...rest, ...format }
  if (Object.keys(generationConfig).length > 0) own['generationConfig'] = generationConfig
  if (toolConfig !== undefined) own['toolConfig'] = toolConfig
  const further = Object.keys(own).length > 0 ? own : undefined
  return { turns: readTurns(request), tools, toolChoice, output, settings, own: asOwn('gemini', further) }
}

function readTurns({ contents, systemInstruction }: Fields): Turn[] {
  const ids = new CallIds()
  const turns: Turn[] = []
  if (systemInstruction !== undefined && systemInstruction !== null) {
    const place = 'systemInstruction'
    const { parts } =
      typeof systemInstruction === 'string'
        ? { parts: { text: systemInstruction } }
        : recordAt(systemInstruction, place)
    const blocks = readParts(parts, `${place}.parts`, ids)
    if (blocks.length > 0) turns.push({ role: 'system', blocks, place })
  }
  const list = typeof contents === 'string' ? [{ parts: [{ text: contents }] }] : itemsAt(contents, 'contents')
  for (const [index, raw] of list.entries()) readTurn(raw, `contents[${index}]`, ids, turns)
  if (list.length === 0) throw invalid('"contents" must have at least one item.', 'contents')
  return turns
}

/** The pieces of a streamed answer may be contents of their own. */
function readTurn(raw: unknown, place: string, ids: CallIds, turns: Turn[]): void {
  const { role = 'user', parts, ...more } = recordAt(raw, place)
  const speaker = entryIn(roles, role)
  if (speaker === undefined) throw invalid(`"${place}.role" must be "user" or "model".`, `${place}.role`)
  const before = turns.at(-1)
  if (speaker === 'assistant' && before?.role === 'assistant') {
    const blocks = readParts(parts, `${place}.parts`, ids, [...before.blocks])
    turns[turns.length - 1] = { ...before, blocks: joined(blocks) }
    return
  }
  const blocks = readParts(parts, `${place}.parts`, ids)
  turns.push({ role: speaker, blocks, place, own: Object.keys(more).length > 0 ? { gemini: more } : undefined })
}

/** Pieces of one text, or of one thought, as one block. */
function joined(blocks: readonly Block[]): Block[] {
  const whole: Block[] = []
  for (const block of blocks) {
    const last = whole.at(-1)
    if (last !== undefined && isPiece(last) && isPiece(block) && last.kind === block.kind && last.state === undefined)
      whole[whole.length - 1] = { ...block, text: last.text + block.text, ...(last.place && { place: last.place }) }
    else whole.push(block)
  }
  return whole
}

function isPiece(block: Block): block is TextBlock | ReasoningBlock {
  return (block.kind === 'text' || (block.kind === 'reasoning' && block.form === undefined)) && block.own === undefined
}

/** `function`: the role of results in earlier versions. */
const roles: Readonly<Record<string, Turn['role']>> = {
  user: 'user',
  function: 'user',
  model: 'assistant',
  system: 'system',
}

function readSettings(config: Fields, tier: unknown): { readonly settings: Settings; readonly rest: Fields } {
  const settings = readNumbers(config, numbers)
  const { stopSequences, responseLogprobs, logprobs, responseModalities, thinkingConfig } = config
  const stops = readStops(stopSequences, 'generationConfig.stopSequences')
  if (stops !== undefined) settings.stops = stops
  if (responseLogprobs === true) settings.logprobs = numberOf(logprobs) ?? 0
  const modalities = itemsOf(responseModalities).map((each) => String(each).toLowerCase())
  if (modalities.length > 0) settings.modalities = modalities as unknown as Settings['modalities']
  const rest: Record<string, unknown> = { ...others(config, saidOfConfig) }
  if (isRecord(thinkingConfig)) {
    const thinking = recordAt(thinkingConfig, 'generationConfig.thinkingConfig')
    settings.reasoning = readThinking(thinking)
    const more = others(thinking, thinkingFields)
    if (more !== undefined) rest['thinkingConfig'] = more
  }
  if (typeof tier === 'string') settings.tier = tier.toLowerCase() === 'standard' ? 'default' : tier.toLowerCase()
  return { settings, rest }
}

const thinkingFields = new Set(['thinkingBudget', 'thinkingLevel', 'includeThoughts'])

function readThinking({ thinkingBudget: budget, thinkingLevel: level, includeThoughts: shown }: Fields): Reasoning {
  const show = typeof shown !== 'boolean' ? undefined : shown ? 'full' : 'hidden'
  return { ...modeOf(budget), effort: effortIn(textOf(level).toLowerCase()), show }
}

function modeOf(budget: unknown): Pick<Reasoning, 'mode' | 'budget'> {
  if (typeof budget !== 'number') return {}
  if (budget === 0) return { mode: 'off' }
  return budget < 0 ? { mode: 'adaptive' } : { mode: 'on', budget }
}

/** `rest`: a format that only this wire has, such as `text/x.enum`. */
function readOutput(config: Fields): { readonly output?: Output; readonly rest: Fields } {
  const { responseMimeType: type, responseJsonSchema, responseSchema } = config
  if (type !== undefined && type !== 'text/plain' && type !== 'application/json') {
    return { rest: { responseMimeType: type, ...(responseSchema !== undefined && { responseSchema }) } }
  }
  if (isRecord(responseJsonSchema)) return { output: { kind: 'schema', schema: responseJsonSchema }, rest: {} }
  if (isRecord(responseSchema)) return { output: { kind: 'schema', schema: jsonSchemaOf(responseSchema) }, rest: {} }
  return type === 'application/json' ? { output: { kind: 'json' }, rest: {} } : { rest: {} }
}
