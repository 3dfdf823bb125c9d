/** Whole responses. */
import { billed, retrySame, unreadable } from '../../providers/failure.ts'
import { readDataUrl } from '../../providers/data-url.ts'
import { maxToolCalls, tooMany } from '../../providers/answer-bounds.ts'
import { chatUsage, responseUsage } from '../../wire/response-usage.ts'
import { isRecord } from '../../wire/json.ts'
import type { OutputItem } from '../../wire/responses.ts'
import type { Block, Fields, MediaSource, Own } from '../../conversation/conversation.ts'
import { others } from '../../conversation/json.ts'
import type { Answer } from '../../conversation/parts.ts'
import type { Asked, Source } from '../format.ts'
import { mediaText } from '../media-text.ts'
import { endOf, incompleteReason } from './ends.ts'
import { ownBlock, readOutputItem } from './items.ts'
import {
  annotationsOf,
  callItem,
  imageItem,
  itemId,
  kindOfCall,
  messageItem,
  textPart,
  writtenReasoning,
  type ItemKind,
  type ItemStatus,
} from './output-items.ts'

export function readAnswer(body: Fields, { maker, failure }: Source): Answer {
  const { id, created_at: created, model, output, usage, status, error } = body
  const counted = chatUsage(usage, Array.isArray(output) ? (output as readonly OutputItem[]) : [])
  if (error) throw billed(failure(error), counted)
  if (status === 'failed' || status === 'cancelled')
    throw billed(retrySame(new Error(`the vendor ended the response as "${status}"`)), counted)
  if (!Array.isArray(output)) throw unreadable("the vendor's response has no output")
  const blocks = blocksOf(output, maker)
  const end = endOf(
    body,
    blocks.some(({ kind }) => kind === 'call'),
  )
  if (end === undefined) throw unreadable('the vendor returned a response that has not ended')
  const own = others(body, answerFields)
  return {
    ...(typeof id === 'string' && { id }),
    ...(typeof created === 'number' && { created }),
    ...(typeof model === 'string' && { model }),
    choices: [{ blocks, end }],
    ...(counted && { usage: counted }),
    ...(isRecord(usage) && { counters: usage }),
    ...(own !== undefined && { own: { responses: own } }),
  }
}

/** The fields that are read, and those that the gateway writes itself. */
export const answerFields: ReadonlySet<string> = new Set([
  'id',
  'object',
  'created_at',
  'completed_at',
  'status',
  'model',
  'output',
  'usage',
  'error',
  'incomplete_details',
])

export function blocksOf(output: readonly unknown[], maker: string): Block[] {
  if (output.length > maxToolCalls) throw tooMany('items', maxToolCalls)
  return output.flatMap((item, index) => {
    if (!isRecord(item)) throw unreadable('an item of the vendor is no object')
    const place = `output[${index}]`
    return readOutputItem(item, place, maker) ?? [ownBlock(item, place)]
  })
}

export function writeAnswer(answer: Answer, asked: Asked): Fields {
  const { blocks, end } = answer.choices[0] ?? { blocks: [] }
  const reason = incompleteReason(end)
  const status = reason === undefined ? 'completed' : 'incomplete'
  const writer = new OutputWriter(asked)
  for (const [index, block] of blocks.entries()) writer.add(block, index === blocks.length - 1 ? status : 'completed')
  return endedResponse(asked, writer.end(), reason, answer.usage && responseUsage(answer.usage), answer.own)
}

/** A response at its end. */
export function endedResponse(
  asked: Asked,
  output: readonly Fields[],
  reason: string | undefined,
  usage: object | undefined,
  own: Own | undefined,
): Fields {
  const tier = tierIn(own)
  return {
    // The fields of the client's request are as it wrote them.
    ...own?.responses,
    ...openedResponse(asked),
    status: reason === undefined ? 'completed' : 'incomplete',
    incomplete_details: reason === undefined ? null : { reason },
    output,
    usage: usage ?? null,
    ...(tier !== undefined && { service_tier: tier }),
  }
}

/** The tier that the vendor reports, in whichever format. */
function tierIn(own: Own = {}): string | undefined {
  for (const fields of Object.values(own)) if (typeof fields['service_tier'] === 'string') return fields['service_tier']
  return undefined
}

/** A response without output. */
export function openedResponse({ id, created, model, repeated }: Asked): Fields {
  const head = { id, object: 'response', created_at: created, status: 'in_progress', model }
  return { ...repeated, ...head, error: null, incomplete_details: null, output: [], usage: null }
}

/** Texts and refusals in a row are the parts of one message. */
class OutputWriter {
  readonly #asked: Asked
  readonly #items: Fields[] = []
  #message: { parts: Fields[]; status: ItemStatus; own: Fields | undefined } | undefined

  constructor(asked: Asked) {
    this.#asked = asked
  }

  add(block: Block, status: ItemStatus): void {
    if (block.kind === 'text' || block.kind === 'refusal') return this.#say(block, status)
    if (block.kind === 'media') return this.#media(block, status)
    this.#close()
    switch (block.kind) {
      case 'reasoning':
        this.#push('reasoning', (id) => ({
          ...writtenReasoning(id, block, asSummary(this.#asked, block.form)),
          ...block.own?.responses,
        }))
        return
      case 'call':
        this.#state(block)
        return this.#push(kindOfCall(block), (id) =>
          callItem(id, status, block, block.input === '' && block.by === 'function' ? '{}' : block.input),
        )
      case 'own':
        if (block.format === 'responses') this.#items.push(block.value)
        else {
          for (const each of block.instead ?? []) this.add(each, status)
          this.#state(block)
        }
    }
  }

  #media(block: Extract<Block, { kind: 'media' }>, status: ItemStatus): void {
    const { type, source, state } = block
    const base64 = type === 'image' ? base64In(source) : undefined
    if (base64 === undefined) {
      const said = { kind: 'text', text: mediaText(block), ...(state !== undefined && { state }) } as const
      return this.#say(said, status)
    }
    this.#close()
    this.#push('image', (id) => ({ ...imageItem(id, 'completed', base64), ...block.own?.responses }))
    this.#state(block)
  }

  end(): readonly Fields[] {
    this.#close()
    return this.#items
  }

  /** A text goes on in the part before it unless it is marked as a part of its own. */
  #say(block: Extract<Block, { kind: 'text' | 'refusal' }>, status: ItemStatus): void {
    const { item, part, ...more } = block.own?.responses ?? {}
    if (item !== undefined) this.#close()
    this.#message ??= { parts: [], status, own: item as Fields | undefined }
    const { parts } = this.#message
    this.#message.status = status
    const logprobs = block.logprobs ?? []
    const last = parts.at(-1)
    if (block.kind === 'refusal') {
      if (last?.['type'] === 'refusal' && part !== true)
        replaceLast(parts, { ...last, refusal: `${last['refusal'] as string}${block.text}` })
      else parts.push({ type: 'refusal', refusal: block.text, ...more })
    } else if (last?.['type'] === 'output_text' && part !== true) {
      const text = last['text'] as string
      const added = annotationsOf(block.citations, text.length, block.text.length)
      replaceLast(parts, {
        ...textPart(
          text + block.text,
          [...(last['annotations'] as Fields[]), ...added],
          [...(last['logprobs'] as unknown[]), ...logprobs],
        ),
        ...more,
      })
    } else {
      const annotations = annotationsOf(block.citations, 0, block.text.length)
      parts.push({ ...textPart(block.text, annotations, logprobs), ...more })
    }
    if (block.state !== undefined) {
      this.#close()
      this.#state(block)
    }
  }

  /** State that no item of its own has. */
  #state({ state }: Block): void {
    if (state !== undefined) this.#push('reasoning', (id) => writtenReasoning(id, { text: '', state }, true))
  }

  #close(): void {
    const message = this.#message
    this.#message = undefined
    if (message === undefined) return
    const { parts, status, own } = message
    this.#push('message', (id) => messageItem(id, status, parts, own))
  }

  #push(kind: ItemKind, item: (id: string) => Fields): void {
    this.#items.push(item(itemId(kind, this.#asked.id, this.#items.length)))
  }
}

function replaceLast(parts: Fields[], part: Fields): void {
  parts[parts.length - 1] = part
}

/** Whether reasoning is sent as a summary: if the client has asked for one. */
export function asSummary({ repeated }: Asked, form: 'summary' | 'sealed' | undefined): boolean {
  if (repeated === undefined) return form !== undefined
  const { reasoning } = repeated
  return isRecord(reasoning) && Boolean(reasoning['summary'])
}

/** The data of an image; undefined for one that the vendor only links to. */
export function base64In(source: MediaSource): string | undefined {
  if ('base64' in source) return source.base64
  return 'url' in source ? readDataUrl(source.url)?.base64 : undefined
}
