/** Parts of an AI SDK stream → chunks of a chat. */
import { billed, retrySame } from '../../../src/providers/failure.ts'
import { isRecord } from '../../../src/wire/json.ts'
import type { ChatChunk, Delta, FinishReason } from '../../../src/wire/chat.ts'
import { extraContent, type Carried } from './prompt.ts'
import { usageIn } from './usage.ts'

type Fields = Readonly<Record<string, unknown>>

interface Thought {
  text: string
  metadata: Fields
}

const finishes: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  length: 'length',
  'content-filter': 'content_filter',
  'tool-calls': 'tool_calls',
}

export interface ReaderOptions {
  /** Pass on only the first tool call. */
  readonly single: boolean
  /** Called with the model's warnings before its first content. */
  readonly onWarnings: (warnings: unknown) => void
}

export class PartReader {
  /** Whether the response is complete. */
  done = false
  readonly #options: ReaderOptions
  #head: Partial<ChatChunk> = {}
  readonly #calls = new Map<unknown, { readonly index: number; sent: boolean }>()
  readonly #thoughts = new Map<unknown, Thought>()
  #textMetadata: Fields | undefined
  readonly #images: object[] = []

  constructor(options: ReaderOptions) {
    this.#options = options
  }

  /** The chunks of one part. Throws the error of an error part. */
  read(part: Fields): ChatChunk[] {
    switch (part['type']) {
      case 'stream-start':
        this.#options.onWarnings(part['warnings'])
        return []
      case 'response-metadata':
        return this.#identify(part)
      case 'text-start':
      case 'text-end':
        this.#keepText(part)
        return []
      case 'text-delta':
        this.#keepText(part)
        return this.#textChunk({ content: textOf(part['delta']) })
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        return this.#reasoning(part)
      case 'tool-input-start':
        return part['providerExecuted'] === true ? [] : this.#openCall(part['id'], part['toolName'], '')
      case 'tool-input-delta':
        return this.#continueCall(part['id'], textOf(part['delta']))
      case 'tool-call':
        return part['providerExecuted'] === true ? [] : this.#wholeCall(part)
      case 'file':
        this.#keepFile(part)
        return []
      case 'finish':
        return this.#finish(part)
      case 'error':
        throw part['error']
      default:
        // Sources, results of the vendor's own tools, pings, raw chunks.
        return []
    }
  }

  #identify({ id, modelId, timestamp }: Fields): ChatChunk[] {
    this.#head = {
      ...(typeof id === 'string' && { id }),
      ...(typeof modelId === 'string' && { model: modelId }),
      ...(timestamp instanceof Date && { created: Math.floor(timestamp.getTime() / 1000) }),
    }
    return []
  }

  #keepText({ providerMetadata: metadata }: Fields): void {
    if (isRecord(metadata)) this.#textMetadata = merged(this.#textMetadata, metadata)
  }

  #reasoning({ id, delta, providerMetadata: metadata }: Fields): ChatChunk[] {
    let thought = this.#thoughts.get(id)
    if (thought === undefined) this.#thoughts.set(id, (thought = { text: '', metadata: {} }))
    if (isRecord(metadata)) thought.metadata = merged(thought.metadata, metadata)
    const text = textOf(delta)
    thought.text += text
    return this.#textChunk({ reasoning_content: text })
  }

  #openCall(id: unknown, name: unknown, text: string): ChatChunk[] {
    const index = this.#calls.size
    this.#calls.set(id, { index, sent: text !== '' })
    if (this.#options.single && index > 0) return []
    const called = { name: textOf(name), arguments: text }
    return [this.#chunk({ tool_calls: [{ index, id: textOf(id), type: 'function', function: called }] })]
  }

  #continueCall(id: unknown, text: string): ChatChunk[] {
    const call = this.#calls.get(id)
    if (call === undefined || text === '' || (this.#options.single && call.index > 0)) return []
    call.sent = true
    return [this.#chunk({ tool_calls: [{ index: call.index, function: { arguments: text } }] })]
  }

  /** A complete call, which comes after its pieces or instead of them. */
  #wholeCall({ toolCallId: id, toolName, input, providerMetadata: metadata }: Fields): ChatChunk[] {
    const text = typeof input === 'string' ? input : JSON.stringify(input ?? {})
    const opened = this.#calls.has(id) ? [] : this.#openCall(id, toolName, '')
    const call = this.#calls.get(id) as { index: number; sent: boolean }
    const rest = call.sent || text === '{}' ? [] : this.#continueCall(id, text)
    if (!isRecord(metadata) || (this.#options.single && call.index > 0)) return [...opened, ...rest]
    const marked = { index: call.index, function: { arguments: '' }, ...extraContent({ metadata }) }
    return [...opened, ...rest, this.#chunk({ tool_calls: [marked] })]
  }

  /** Keeps an image of a chat response, in the format that other gateways use. */
  #keepFile({ mediaType, data }: Fields): void {
    const inner = isRecord(data) && 'data' in data ? data['data'] : data
    const base64 = inner instanceof Uint8Array ? Buffer.from(inner).toString('base64') : inner
    if (typeof base64 !== 'string' || !textOf(mediaType).startsWith('image/')) return
    this.#images.push({ type: 'image_url', image_url: { url: `data:${textOf(mediaType)};base64,${base64}` } })
  }

  #finish({ finishReason, usage, providerMetadata: metadata }: Fields): ChatChunk[] {
    const { unified, raw } = isRecord(finishReason) ? finishReason : { unified: finishReason, raw: finishReason }
    const counted = usageIn(usage, metadata)
    if (unified === 'error')
      throw billed(retrySame(new Error('the model ended its response with an error')), counted.usage)
    // How the SDK reports a vendor stream that was cut off.
    if (finishes[textOf(unified)] === undefined && raw === undefined) {
      throw retrySame(new Error('the vendor’s stream ended before the response was complete'))
    }
    this.done = true
    const reasoning = [...this.#thoughts.values()].filter(({ metadata }) => Object.keys(metadata).length > 0)
    const carried: Carried = {
      ...(reasoning.length > 0 && { reasoning }),
      ...(this.#textMetadata !== undefined && { metadata: this.#textMetadata }),
    }
    // In one delta, so that clients that replace unknown fields get the same as those that append.
    const delta = { ...(this.#images.length > 0 && { images: this.#images }), ...extraContent(carried) }
    const finish = finishes[textOf(unified)] ?? (this.#calls.size > 0 ? 'tool_calls' : 'stop')
    const end = { ...this.#head, choices: [{ delta: {}, finish_reason: finish }], ...counted }
    return Object.keys(delta).length > 0 ? [this.#chunk(delta), end] : [end]
  }

  #textChunk(delta: Delta): ChatChunk[] {
    return Object.values(delta)[0] === '' ? [] : [this.#chunk(delta)]
  }

  #chunk(delta: Delta): ChatChunk {
    return { ...this.#head, choices: [{ delta }] }
  }
}

/** Merges provider metadata per vendor and field. */
function merged(sofar: Fields | undefined, more: Fields): Fields {
  const whole: Record<string, unknown> = { ...sofar }
  for (const [vendor, fields] of Object.entries(more)) {
    const known = whole[vendor]
    whole[vendor] = isRecord(known) && isRecord(fields) ? { ...known, ...fields } : fields
  }
  return whole
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
