/** Whole responses. */
import { unreadable } from '../../providers/failure.ts'
import { readDataUrl } from '../../providers/data-url.ts'
import { maxToolCalls, tooMany } from '../../providers/answer-bounds.ts'
import { fieldsOf, isRecord } from '../../wire/json.ts'
import type { Block, Fields, MediaSource } from '../../conversation/conversation.ts'
import type { Own } from '../../conversation/own.ts'
import type { Asked } from '../format.ts'
import { ownBlock, readOutputItem } from './items.ts'

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

/** Whether reasoning is sent as a summary: if the client has asked for one. */
export function asSummary({ repeated }: Asked, form: 'summary' | 'sealed' | undefined): boolean {
  if (repeated === undefined) return form !== undefined
  return Boolean(fieldsOf(repeated['reasoning'])['summary'])
}

/** The data of an image; undefined for one that the vendor only links to. */
export function base64In(source: MediaSource): string | undefined {
  if ('base64' in source) return source.base64
  return 'url' in source ? readDataUrl(source.url)?.base64 : undefined
}
