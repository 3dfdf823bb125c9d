/** What an answer cites, as `groundingMetadata` of its candidate. Google counts bytes of UTF-8, citations characters. */
import { fieldsOf, isRecord, itemsOf, stringOf, type Fields } from '../../wire/json.ts'
import type { Citation, TextRange } from '../../conversation/conversation.ts'

/** A text of the answer, by its block. */
export interface SaidText {
  readonly block: number
  readonly text: string
}

export interface CitedBlock {
  readonly block: number
  readonly citation: Citation
}

/** The citations in the metadata, each with the block of the text that it supports. */
export function readCitations(metadata: Fields, texts: readonly SaidText[]): CitedBlock[] {
  const pages = itemsOf(metadata['groundingChunks']).map(pageIn)
  const supports = itemsOf(metadata['groundingSupports']).filter(isRecord)
  const last = texts.at(-1)
  if (last === undefined) return []
  if (supports.length === 0)
    return pages.flatMap((citation) => (citation === undefined ? [] : [{ block: last.block, citation }]))
  return supports.flatMap(({ segment, groundingChunkIndices: indices }) => {
    const { block = last.block, range } = (isRecord(segment) ? rangeIn(segment, texts) : undefined) ?? {}
    return itemsOf(indices).flatMap((index) => {
      const page = pages[index as number]
      return page === undefined ? [] : [{ block, citation: { ...page, range } }]
    })
  })
}

function pageIn(chunk: unknown): Citation | undefined {
  const { web, retrievedContext, maps } = fieldsOf(chunk)
  const { uri: url, title } = fieldsOf([web, retrievedContext, maps].find(isRecord))
  return typeof url === 'string' ? { url, title: stringOf(title) } : undefined
}

interface BlockRange {
  readonly block: number
  readonly range: TextRange
}

function rangeIn({ startIndex = 0, endIndex }: Fields, texts: readonly SaidText[]): BlockRange | undefined {
  if (typeof startIndex !== 'number' || typeof endIndex !== 'number') return undefined
  let from = 0
  for (const { block, text } of texts) {
    const bytes = Buffer.from(text)
    if (startIndex < from + bytes.length) {
      const characters = (end: number) => bytes.toString('utf8', 0, Math.max(0, end - from)).length
      return { block, range: { start: characters(startIndex), end: characters(endIndex) } }
    }
    from += bytes.length
  }
  return undefined
}

/** The `groundingMetadata` of a candidate; undefined if nothing is cited that has an address. */
export function writeCitations(cited: readonly CitedBlock[], texts: readonly SaidText[]): Fields | undefined {
  const urls = new Map<string, number>()
  const groundingChunks: object[] = []
  const groundingSupports: object[] = []
  for (const { block, citation } of cited) {
    const { url, title, range } = citation
    if (url === undefined) continue
    let index = urls.get(url)
    if (index === undefined) {
      urls.set(url, (index = groundingChunks.length))
      groundingChunks.push({ web: { uri: url, title } })
    }
    const segment = range && segmentOf(range, block, texts)
    if (segment !== undefined) groundingSupports.push({ segment, groundingChunkIndices: [index] })
  }
  if (groundingChunks.length === 0) return undefined
  return { groundingChunks, ...(groundingSupports.length > 0 && { groundingSupports }) }
}

function segmentOf({ start, end }: TextRange, block: number, texts: readonly SaidText[]): object | undefined {
  let from = 0
  for (const each of texts) {
    if (each.block === block) {
      const text = each.text.slice(start, end)
      const startIndex = from + Buffer.byteLength(each.text.slice(0, start))
      return { startIndex, endIndex: startIndex + Buffer.byteLength(text), text }
    }
    from += Buffer.byteLength(each.text)
  }
  return undefined
}
