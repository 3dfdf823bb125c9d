/** Turns of a chat → the prompt of an AI SDK language model. */
import type { Call } from '../../../src/providers/contract.ts'
import { CallIds } from '../../../src/providers/reading/call-ids.ts'
import type { AssistantTurn, ToolTurn, Turn } from '../../../src/providers/reading/messages.ts'
import type { MediaPart, Part } from '../../../src/providers/reading/parts.ts'
import { unsupported, unsupportedValue } from '../../../src/providers/unsupported.ts'
import type { AiSdkLanguageModel } from './models.ts'
import { isRecord } from '../../../src/wire/json.ts'

type Fields = Readonly<Record<string, unknown>>

/**
 * What a model needs back in the next turn, such as signatures. The client carries it between requests in
 * `extra_content.ai_sdk` of a message or a tool call.
 */
export interface Carried {
  /** The reasoning parts of a message. */
  readonly reasoning?: readonly { readonly text: string; readonly metadata: Fields }[]
  /** The provider metadata of a message's text, or of a tool call. */
  readonly metadata?: Fields
}

export function extraContent(carried: Carried): Record<string, unknown> {
  return Object.keys(carried).length === 0 ? {} : { extra_content: { ai_sdk: carried } }
}

function carriedBy(raw: Fields): Carried {
  const { extra_content: extra } = raw
  return isRecord(extra) && isRecord(extra['ai_sdk']) ? extra['ai_sdk'] : {}
}

export async function promptOf(
  turns: readonly Turn[],
  model: AiSdkLanguageModel,
  call: Pick<Call<unknown>, 'publicModel'>,
): Promise<object[]> {
  const media = new Media(model, await model.supportedUrls, call)
  const ids = new CallIds()
  const system = turns.filter((turn) => turn.role === 'system').flatMap(({ parts }) => parts.map(({ text }) => text))
  const prompt: object[] = system.length === 0 ? [] : [{ role: 'system', content: system.join('\n\n') }]
  for (const turn of turns) {
    if (turn.role === 'user') prompt.push({ role: 'user', content: turn.parts.map((part) => media.part(part)) })
    else if (turn.role === 'assistant') prompt.push({ role: 'assistant', content: assistantParts(turn, ids) })
    else if (turn.role === 'tool') addResult(prompt, resultPart(turn, ids, media))
  }
  return prompt
}

/** Adds a tool result. The results of parallel calls share one message. */
function addResult(prompt: object[], result: object): void {
  const last = prompt.at(-1) as { role: string; content: object[] } | undefined
  if (last?.role === 'tool') last.content.push(result)
  else prompt.push({ role: 'tool', content: [result] })
}

function assistantParts({ parts, calls, raw }: AssistantTurn, ids: CallIds): object[] {
  const { reasoning, metadata } = carriedBy(raw)
  const thought = Array.isArray(reasoning) ? (reasoning as unknown[]).filter(isRecord) : []
  const text = parts.map((part) => part.text).join('')
  return [
    ...thought.map((part) => ({
      type: 'reasoning',
      text: typeof part['text'] === 'string' ? part['text'] : '',
      ...optionsOf(part['metadata']),
    })),
    ...(text === '' && metadata === undefined ? [] : [{ type: 'text', text, ...optionsOf(metadata) }]),
    ...calls.map((call) => {
      const { id, name: toolName, input } = call
      const toolCallId = ids.add(id)
      return { type: 'tool-call', toolCallId, toolName, input, ...optionsOf(carriedBy(call.raw).metadata) }
    }),
  ]
}

function optionsOf(metadata: unknown): object {
  return isRecord(metadata) ? { providerOptions: metadata } : {}
}

function resultPart({ callId, name: toolName, parts }: ToolTurn, ids: CallIds, media: Media): object {
  const text = parts.map((part) => (part.kind === 'text' ? part.text : '')).join('')
  const plain = parts.every(({ kind }) => kind === 'text')
  const output = plain
    ? { type: 'text', value: text }
    : { type: 'content', value: parts.map((part) => media.part(part)) }
  return { type: 'tool-result', toolCallId: ids.find(callId), toolName, output }
}

class Media {
  readonly #tagged: boolean
  readonly #urls: readonly (readonly [string, readonly RegExp[]])[]
  readonly #call: Pick<Call<unknown>, 'publicModel'>

  constructor(model: AiSdkLanguageModel, urls: unknown, call: Pick<Call<unknown>, 'publicModel'>) {
    // Since V4, data is tagged with its type.
    this.#tagged = model.specificationVersion !== 'v2' && model.specificationVersion !== 'v3'
    this.#urls = Object.entries(isRecord(urls) ? urls : {}) as [string, RegExp[]][]
    this.#call = call
  }

  part(part: Part): object {
    if (part.kind === 'text') return { type: 'text', text: part.text }
    const { source, param, filename } = part
    const named = filename === undefined ? {} : { filename }
    if ('fileId' in source) throw unsupported(this.#call, param)
    if ('url' in source) {
      if (!this.#fetches(source.url, part.kind)) {
        throw unsupportedValue(this.#call, param, 'it cannot fetch this address; send the data as a data URL.')
      }
      const url = new URL(source.url)
      return { type: 'file', ...named, mediaType: typeOf(part), data: this.#tagged ? { type: 'url', url } : url }
    }
    const { mediaType, base64 } = source
    return { type: 'file', ...named, mediaType, data: this.#tagged ? { type: 'data', data: base64 } : base64 }
  }

  /** Whether the vendor fetches this URL itself. The gateway never fetches it. */
  #fetches(url: string, kind: MediaPart['kind']): boolean {
    return this.#urls.some(([type, patterns]) => {
      const fits = type === '*' || type === '*/*' || (kind === 'image') === type.startsWith('image/')
      return fits && patterns.some((pattern) => pattern.test(url))
    })
  }
}

function typeOf({ kind }: MediaPart): string {
  return kind === 'image' ? 'image/*' : 'application/pdf'
}
