/** What the scripted vendors have in common. */
import type { Dialect } from '../../../src/testing/dialects/dialect.ts'
import type { Answer, Block, Json, Usage } from '../feature.ts'

/** The format of a vendor: writes answers. */
export interface Wire {
  /** Whether a request is in this format. */
  readonly serves: (path: string) => boolean
  readonly body: (answer: Answer, model: string) => object
  /** The frames of a stream. */
  readonly frames: (answer: Answer, model: string) => string[]
  /** The format's errors. */
  readonly errors: Pick<Dialect, 'errorReply' | 'errorFrame'>
  /** Whether a request, whose body is here, asks for a stream. */
  readonly streams?: (path: string) => boolean
}

export const created = 1_700_000_000

export function usageOf({ usage }: Answer): Required<Usage> | undefined {
  return usage === null ? undefined : { cached: 0, written: 0, reasoning: 0, input: 11, output: 3, ...usage }
}

export function endOf({ end, blocks }: Answer): NonNullable<Answer['end']> {
  return end ?? (blocks.some(({ call }) => call) ? 'tools' : 'stop')
}

export function pieces(text: string, { fragment = 5 }: Answer): string[] {
  return text.match(new RegExp(`[^]{1,${fragment}}`, 'gu')) ?? []
}

export function data(value: object, name?: string, end = '\n\n'): string {
  return `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(value)}${end}`
}

/** A citation of the whole text. */
export function cited({ text = '', cites }: Block): Json[] {
  return cites === undefined ? [] : [{ url: cites, title: 'A page', start_index: 0, end_index: text.length }]
}

export const joined = (blocks: readonly Block[], field: 'text' | 'refusal' | 'reasoning'): string | undefined => {
  const texts = blocks.flatMap((block) => block[field] ?? [])
  return texts.length === 0 ? undefined : texts.join('')
}
