/** The parts of an AI SDK stream → parts of an answer. */
import type { Citation } from '../../../src/conversation/conversation.ts'
import { objectOf } from '../../../src/conversation/json.ts'
import type { Reason } from '../../../src/conversation/parts.ts'
import { billed, retrySame } from '../../../src/providers/failure.ts'
import type { GeneratedPart } from '../../../src/providers/generated-part.ts'
import { fieldsOf, isRecord, stringOf, textOf, type Fields } from '../../../src/wire/json.ts'
import { withoutCosts } from '../../../src/wire/own-costs.ts'
import { callState, reasoningState, textState } from './state.ts'
import { usageIn } from './usage.ts'

const reasons: Readonly<Record<string, Reason>> = {
  stop: 'stop',
  length: 'length',
  'content-filter': 'filter',
  'tool-calls': 'calls',
}

export interface ReaderOptions {
  /** The maker of the states. */
  readonly maker: string
  /** Pass on only the first tool call. */
  readonly single: boolean
  /** Called with the model's warnings before its first content. */
  readonly onWarnings: (warnings: unknown) => void
}

interface OpenBlock {
  readonly block: number
  /** What of it has been passed on. */
  text: string
  metadata: Fields | undefined
}

export class StreamReader {
  /** Whether the answer is complete. */
  done = false
  readonly #options: ReaderOptions
  /** Texts, reasoning and calls by their kind and id. */
  readonly #open = new Map<string, OpenBlock>()
  #blocks = 0
  #calls = 0
  #text: number | undefined
  /** Sources that came before any text. */
  readonly #sources: Citation[] = []

  constructor(options: ReaderOptions) {
    this.#options = options
  }

  /** The parts for one of the model. Throws the error of an error part. */
  read(part: Fields): GeneratedPart[] {
    switch (part['type']) {
      case 'stream-start':
        this.#options.onWarnings(part['warnings'])
        return []
      case 'response-metadata':
        return [started(part)]
      case 'text-start':
      case 'text-delta':
      case 'text-end':
        return this.#say('text', part, part['type'] === 'text-end')
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        return this.#say('reasoning', part, part['type'] === 'reasoning-end')
      case 'tool-input-start':
        return part['providerExecuted'] === true ? [] : this.#begin(part['id'], part['toolName'])
      case 'tool-input-delta':
        return this.#input(part['id'], textOf(part['delta']))
      case 'tool-call':
        return part['providerExecuted'] === true ? [executed(part)] : this.#call(part)
      case 'tool-result':
        return [executedResult(part)]
      case 'source':
        return this.#cite(part)
      case 'file':
        return mediaPart(part)
      case 'finish':
        return this.#finish(part)
      case 'error':
        throw part['error']
      default:
        // Pings, raw chunks.
        return []
    }
  }

  #say(kind: 'text' | 'reasoning', part: Fields, isEnd: boolean): GeneratedPart[] {
    const open = this.#opened(`${kind} ${String(part['id'])}`)
    const { block } = open
    const delta = textOf(part['delta'])
    if (isRecord(part['providerMetadata'])) open.metadata = merged(open.metadata, part['providerMetadata'])
    const out: GeneratedPart[] = []
    if (delta !== '') {
      out.push({ kind, block, text: delta })
      open.text += delta
      if (kind === 'text') {
        this.#text = block
        for (const citation of this.#sources.splice(0)) out.push({ kind: 'citation', block, citation })
      }
    }
    return isEnd ? [...out, ...this.#end(kind, open)] : out
  }

  /** The state of a text or of reasoning, which may be all there is of it. */
  #end(kind: 'text' | 'reasoning', open: OpenBlock): GeneratedPart[] {
    const { block, text, metadata } = open
    if (metadata === undefined) return []
    open.metadata = undefined
    const { maker } = this.#options
    const state = kind === 'text' ? textState(maker, metadata) : reasoningState(maker, { text, metadata })
    const part: GeneratedPart = { kind: 'state', block, state }
    if (text !== '') return [part]
    return [kind === 'text' ? { kind, block, text: '' } : { kind, block, text: '', form: 'sealed' }, part]
  }

  #begin(id: unknown, name: unknown): GeneratedPart[] {
    const { block } = this.#opened(`call ${String(id)}`)
    if (++this.#calls > 1 && this.#options.single) return []
    return [{ kind: 'call', block, id: textOf(id), name: textOf(name) }]
  }

  #input(id: unknown, text: string): GeneratedPart[] {
    const open = this.#open.get(`call ${String(id)}`)
    if (open === undefined || text === '' || (this.#options.single && this.#calls > 1)) return []
    open.text += text
    return [{ kind: 'input', block: open.block, text }]
  }

  /** A complete call, which comes after its pieces or instead of them. */
  #call({ toolCallId: id, toolName, input, providerMetadata: metadata }: Fields): GeneratedPart[] {
    const text = typeof input === 'string' ? input : JSON.stringify(input ?? {})
    const key = `call ${String(id)}`
    const out = this.#open.has(key) ? [] : this.#begin(id, toolName)
    const { block, text: known } = this.#opened(key)
    if (this.#options.single && this.#calls > 1) return []
    if (known === '') out.push(...this.#input(id, text))
    if (isRecord(metadata)) {
      out.push({ kind: 'state', block, state: callState(this.#options.maker, textOf(id), metadata) })
    }
    return [...out, { kind: 'ended', block }]
  }

  #cite({ url, title, filename }: Fields): GeneratedPart[] {
    const citation = { url: stringOf(url), title: textOf(title) || textOf(filename) || undefined }
    if (this.#text !== undefined) return [{ kind: 'citation', block: this.#text, citation }]
    this.#sources.push(citation)
    return []
  }

  #finish({ finishReason, usage, providerMetadata: metadata }: Fields): GeneratedPart[] {
    const { unified, raw } = isRecord(finishReason) ? finishReason : { unified: finishReason, raw: finishReason }
    const counted = usageIn(usage, metadata)
    if (unified === 'error')
      throw billed(retrySame(new Error('the model ended its response with an error')), counted.usage)
    const reason = reasons[textOf(unified)]
    // How the SDK reports a vendor stream that was cut off.
    if (reason === undefined && raw === undefined) {
      throw retrySame(new Error('the vendor’s stream ended before the response was complete'))
    }
    this.done = true
    const out: GeneratedPart[] = []
    for (const [key, open] of this.#open) {
      const [kind] = key.split(' ', 1)
      if (kind === 'text' || kind === 'reasoning') out.push(...this.#end(kind, open))
    }
    const counters = withoutCosts(fieldsOf(fieldsOf(usage)['raw']))
    if (counted.usage !== undefined) out.push({ kind: 'usage', usage: counted.usage, counters })
    return [...out, { kind: 'end', end: { reason: reason ?? (this.#calls > 0 ? 'calls' : 'stop') } }]
  }

  #opened(key: string): OpenBlock {
    let open = this.#open.get(key)
    if (open === undefined) this.#open.set(key, (open = { block: this.#blocks++, text: '', metadata: undefined }))
    return open
  }
}

function started({ id, modelId, timestamp }: Fields): GeneratedPart {
  const created = timestamp instanceof Date ? Math.floor(timestamp.getTime() / 1000) : undefined
  return { kind: 'start', id: stringOf(id), model: stringOf(modelId), created }
}

/** A call of a tool that the vendor runs, and its result, as blocks of Messages, which has both. */
function executed({ toolCallId: id, toolName: name, input }: Fields): GeneratedPart {
  const parsed = typeof input === 'string' ? objectOf(input) : input
  return { kind: 'own', format: 'messages', value: { type: 'server_tool_use', id, name, input: parsed ?? {} } }
}

function executedResult({ toolCallId, toolName, result, isError }: Fields): GeneratedPart {
  const type = `${textOf(toolName)}_tool_result`
  const value = { type, tool_use_id: toolCallId, content: result, is_error: isError === true ? true : undefined }
  return { kind: 'own', format: 'messages', value }
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

/** An image, audio or a file that a model has made; none if its data is in a form that is not known. */
function mediaPart({ mediaType: given, data }: Fields): GeneratedPart[] {
  const mediaType = textOf(given)
  const [kind] = mediaType.split('/', 1)
  const type = kind === 'image' || kind === 'audio' ? kind : 'file'
  const inner = isRecord(data) && ('data' in data || 'url' in data) ? (data['data'] ?? data['url']) : data
  if (inner instanceof URL) return [{ kind: 'media', type, source: { url: inner.href, mediaType } }]
  const base64 = inner instanceof Uint8Array ? Buffer.from(inner).toString('base64') : inner
  return typeof base64 === 'string' ? [{ kind: 'media', type, source: { mediaType, base64 } }] : []
}
