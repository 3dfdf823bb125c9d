/** What one of the worst bodies is, and the sizes that a gateway takes by default. */

export interface WorstInput {
  readonly name: string
  readonly path: string
  readonly contentType: string
  readonly body: (model: string) => Buffer
}

/** Just below the 20 MiB that a JSON body may have. */
export const large = 19_900_000
/** Just below the 10,000 members that one list or object may have, and the 200,000 of all together. */
export const wide = 9_900
export const many = 190_000

export const chat = '/v1/chat/completions'
export const responses = '/v1/responses'
export const completions = '/v1/completions'
export const embeddings = '/v1/embeddings'
export const moderations = '/v1/moderations'
export const images = '/v1/images/generations'
export const edits = '/v1/images/edits'
export const transcriptions = '/v1/audio/transcriptions'
export const videos = '/v1/videos'

export function times(count: number, text: (at: number) => string): string {
  return Array.from({ length: count }, (_, at) => text(at)).join(',')
}

export function nested(depth: number, open: string, inner: string, close: string): string {
  return open.repeat(depth) + inner + close.repeat(depth)
}

/** `fields`: a JSON object, to which the model is added. */
export function json(path: string, name: string, fields: () => string): WorstInput {
  const body = (model: string) => Buffer.from(fields().replace('{', `{"model":"${model}",`))
  return { name, path, contentType: 'application/json', body }
}

export function chatWith(name: string, messages: () => string, more: () => string = () => ''): WorstInput {
  return json(chat, name, () => `{"messages":${messages()}${more()}}`)
}

export const user = '[{"role":"user","content":"Hi"}]'
