/** Validation of requests to generate content. Source of the fields: the Gemini API reference, v1beta. */
import { invalid } from '../../errors.ts'
import { readJson } from '../../http/body.ts'
import type { Exchange } from '../../http/exchange.ts'
import type { JsonBody } from '../../http/json-body.ts'
import type { Sizes } from '../../http/sizes.ts'
import { queryOf } from '../../http/target.ts'
import type { GenerateContentRequest } from '../../wire/gemini.ts'
import { countOf, isRecord, type Fields } from '../../wire/json.ts'
import type { Order } from '../endpoint.ts'
import { jsonOrder } from '../order.ts'

/** How a streamed answer is written: as events, or as one JSON list. */
export interface StreamForm {
  readonly isList: boolean
  /** Whether the list is begun. */
  isOpen: boolean
}

export interface ContentOrder extends Order<GenerateContentRequest> {
  readonly streamForm: StreamForm
}

/** Settings by the names under which other endpoints have them, for what reads the requests of all endpoints. */
const settings: Readonly<Record<string, readonly [string, string]>> = {
  maxOutputTokens: ['maxOutputTokens', 'max_output_tokens'],
  n: ['candidateCount', 'candidate_count'],
  temperature: ['temperature', 'temperature'],
  top_p: ['topP', 'top_p'],
  top_k: ['topK', 'top_k'],
  seed: ['seed', 'seed'],
}

/** Reads a request whose model and method the path names. Throws 400, 413, 415. */
export async function readContent(exchange: Exchange, sizes: Sizes, stream: boolean): Promise<ContentOrder> {
  const body = await readJson(exchange, sizes)
  return orderOf(body, stream, queryOf(exchange.target).get('alt') !== 'sse')
}

export function orderOf(body: JsonBody, stream: boolean, isList: boolean): ContentOrder {
  const contents = body.get('contents')
  if (contents === undefined || contents === null) throw invalid('Missing required parameter: "contents".', 'contents')
  if (typeof contents !== 'object') throw invalid('"contents" must be a list.', 'contents')
  if (typeof body.get('model') !== 'string') throw invalid('Missing required parameter: "model".', 'model')
  const config = configIn((name) => body.get(name))
  const field = (name: string) => {
    const names = settings[name]
    return names === undefined ? body.get(name) : (config[names[0]] ?? config[names[1]])
  }
  checkChoices(field('n'))
  return Object.assign(jsonOrder<GenerateContentRequest>(body, stream), {
    field,
    streamForm: { isList, isOpen: false },
  })
}

/** As many as a chat may have. Numbers may be texts, as in all of Google's JSON. */
function checkChoices(count: unknown): void {
  if (count === undefined || count === null) return
  const choices = countOf(count)
  if (choices !== undefined && choices >= 1 && choices <= 128) return
  const param = 'generationConfig.candidateCount'
  throw invalid(`"${param}" must be a whole number from 1 to 128.`, param)
}

/** `generationConfig` in either spelling. */
export function configIn(field: (name: string) => unknown): Fields {
  const config = field('generationConfig') ?? field('generation_config') ?? {}
  if (!isRecord(config)) throw invalid('"generationConfig" must be an object.', 'generationConfig')
  return config
}
