/** Reads content blocks of the Messages wire: they are the same in requests and answers. */
import type { Block, CacheMark, MediaSource, Own, OwnBlock } from '../../conversation/conversation.ts'
import { ownOf } from '../../conversation/own.ts'
import { invalid } from '../../errors.ts'
import { stringIn } from '../../providers/reading/parts.ts'
import { fieldsOf, isRecord, stringOf, textOf, type Fields } from '../../wire/json.ts'
import { documentHead } from '../media.ts'
import { readCitations } from './citations.ts'
import { stateOfHosted } from './hosted-blocks.ts'
import { stateOf } from './states.ts'

/** What the blocks stand in. */
export interface Content {
  /** The path of the content, for errors. */
  readonly place: string
  /** Whose signatures come without an envelope. Default: Anthropic. */
  readonly maker?: string
  /** Whether a model wrote the content. Then what others cannot read is left out, and not mentioned to them. Default false. */
  readonly isAnswer?: boolean
}

/** Reads `content`: a string or blocks. Throws 400 with the place. */
export function readBlocks(content: unknown, within: Content): Block[] {
  if (content === undefined || content === null || content === '') return []
  const { place } = within
  if (typeof content === 'string') return [{ kind: 'text', text: content, place }]
  if (!Array.isArray(content)) throw invalid(`"${place}" must be a string or an array of content blocks.`, place)
  return content.map((raw: unknown, index) => readBlock(raw, { ...within, place: `${place}[${index}]` }))
}

interface Common {
  readonly place: string
  readonly cache: CacheMark | undefined
  readonly own: Own | undefined
}

export function readBlock(raw: unknown, within: Content): Block {
  const { place } = within
  if (!isRecord(raw)) throw invalid(`"${place}" must be an object.`, place)
  const known = knownFields[raw['type'] as string]
  if (known === undefined) return ownBlock(raw, within)
  const common: Common = { place, cache: cacheOf(raw['cache_control']), own: ownOf('messages', raw, known) }
  switch (raw['type']) {
    case 'text':
      return { kind: 'text', text: stringIn(raw, 'text', place), citations: readCitations(raw['citations']), ...common }
    case 'image':
      return { kind: 'media', type: 'image', source: readSource(raw, place), ...common, place: `${place}.source` }
    case 'document':
      return readDocument(raw, common)
    case 'thinking':
      return { kind: 'reasoning', text: textOf(raw['thinking']), state: stateOf(raw['signature'], within), ...common }
    case 'redacted_thinking':
      return { kind: 'reasoning', text: '', form: 'sealed', state: stateOf(raw['data'], within), ...common }
    case 'tool_use': {
      const [id, name] = [stringIn(raw, 'id', place), stringIn(raw, 'name', place)]
      return { kind: 'call', id, name, by: 'function', input: inputText(raw['input']), ...common }
    }
    default: {
      const callId = stringIn(raw, 'tool_use_id', place)
      const blocks = readBlocks(raw['content'], { place: `${place}.content` })
      return { kind: 'result', callId, blocks, failed: raw['is_error'] === true ? true : undefined, ...common }
    }
  }
}

const knownFields: Readonly<Record<string, ReadonlySet<string>>> = {
  text: new Set(['type', 'text', 'citations', 'cache_control']),
  image: new Set(['type', 'source', 'cache_control']),
  document: new Set(['type', 'source', 'title', 'context', 'cache_control']),
  thinking: new Set(['type', 'thinking', 'signature', 'cache_control']),
  redacted_thinking: new Set(['type', 'data', 'cache_control']),
  tool_use: new Set(['type', 'id', 'name', 'input', 'cache_control']),
  tool_result: new Set(['type', 'tool_use_id', 'content', 'is_error', 'cache_control']),
}

/** The JSON text of an input. Large integers are printed as they were read, see `parseJson`. */
export function inputText(input: unknown): string {
  return isRecord(input) ? JSON.stringify(input) : '{}'
}

function readSource(raw: Fields, place: string): MediaSource {
  const { source } = raw
  if (!isRecord(source)) throw invalid(`Missing required parameter: "${place}.source".`, `${place}.source`)
  const where = `${place}.source`
  switch (source['type']) {
    case 'base64': {
      const base64 = stringIn(source, 'data', where)
      if (base64 === '') throw invalid(`"${where}.data" must be base64.`, `${where}.data`)
      return { mediaType: textOf(source['media_type']) || 'application/octet-stream', base64 }
    }
    case 'url':
      return { url: stringIn(source, 'url', where) }
    case 'file':
      return { id: stringIn(source, 'file_id', where) }
    case 'text':
      return { text: textOf(source['data']) }
    default:
      throw invalid(`"${where}.type" must be "base64", "url", "file" or "text".`, `${where}.type`)
  }
}

function readDocument(raw: Fields, common: Common): Block {
  const { place } = common
  const { source, title, context } = raw
  if (fieldsOf(source)['type'] !== 'content') {
    const named = { name: stringOf(title) || undefined, context: stringOf(context) || undefined }
    return {
      kind: 'media',
      type: 'file',
      source: readSource(raw, place),
      ...named,
      ...common,
      place: `${place}.source`,
    }
  }
  const head = documentHead(stringOf(title), stringOf(context))
  const inner = readBlocks(fieldsOf(source)['content'], { place: `${place}.source.content` })
  const instead = head.length === 0 ? inner : [{ kind: 'text' as const, text: head.join('\n') }, ...inner]
  return { kind: 'own', format: 'messages', value: raw, place, instead }
}

function ownBlock(value: Fields, within: Content): OwnBlock {
  const { place, isAnswer = false, maker } = within
  const block: OwnBlock = { kind: 'own', format: 'messages', value, place }
  // What the vendor answers is no words for clients of other formats, who carry its calls and results back.
  if (maker !== undefined) return { ...block, state: stateOfHosted(maker, value) }
  const instead = insteadOf(value, within)
  if (instead !== undefined) return { ...block, instead: [{ kind: 'text', text: instead }] }
  if (isAnswer || toolChanges.has(value['type'])) return block
  // Uploads to a container, and blocks that are newer than this reader.
  const text = `[Content of the type "${textOf(value['type']).slice(0, 64)}", which cannot be shown here]`
  return { ...block, instead: [{ kind: 'text', text }], isNote: true }
}

/** The text that other models get in place of the block; undefined if it has none. */
function insteadOf(value: Fields, { place }: Content): string | undefined {
  const { type, title, source, content, tool_name: tool } = value
  switch (type) {
    case 'search_result': {
      const texts = readBlocks(content, { place: `${place}.content` }).flatMap((each) =>
        each.kind === 'text' ? [each.text] : [],
      )
      const lines = [`Title: ${textOf(title)}`, `Source: ${textOf(source)}`, ...texts]
      return `<search_result>\n${lines.join('\n')}\n</search_result>`
    }
    case 'tool_reference':
      return `The tool "${textOf(tool)}" is available.`
    case 'compaction':
      return typeof content === 'string' ? `A summary of the conversation so far:\n\n${content}` : undefined
    default:
      return undefined
  }
}

/** They change the tools, see `addedTools`. */
const toolChanges: ReadonlySet<unknown> = new Set(['tool_addition', 'tool_removal'])

/** The mark of a block or tool up to which the prompt is to be cached. */
export function cacheOf(raw: unknown): CacheMark | undefined {
  return isRecord(raw) ? { ttl: stringOf(raw['ttl']) } : undefined
}
