/** Validation of speech requests. Source of the fields: OpenAI's CreateSpeechRequest. */
import * as z from 'zod'
import { readJson } from '../../http/body.ts'
import type { Exchange } from '../../http/exchange.ts'
import type { Sizes } from '../../http/sizes.ts'
import { speechTypes, type SpeechFormat, type SpeechRequest } from '../../wire/speech.ts'
import { check } from '../check.ts'
import type { Order } from '../endpoint.ts'
import { jsonOrder } from '../order.ts'

/** OpenAI takes 4,096, others more. */
const maxCharacters = 40_000

const schema = z.looseObject({
  model: z.string().min(1),
  input: z.string().min(1).max(maxCharacters),
  voice: z.union([z.string().min(1), z.looseObject({ id: z.string() })]),
  instructions: z.string().nullish(),
  response_format: z.enum(Object.keys(speechTypes) as SpeechFormat[]).nullish(),
  speed: z.number().min(0.25).max(4).nullish(),
  stream_format: z.enum(['sse', 'audio']).nullish(),
})

/** Reads and validates a speech request. Its audio is always sent as it is made. */
export async function readSpeech(exchange: Exchange, sizes: Sizes): Promise<Order<SpeechRequest>> {
  const body = await readJson(exchange, sizes)
  check(schema, body)
  return jsonOrder<SpeechRequest>(body, true)
}
