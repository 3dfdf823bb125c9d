/** Validation of image requests. Source of the fields: OpenAI's CreateImageRequest. */
import * as z from 'zod'
import { readJson } from '../../http/body.ts'
import type { Exchange } from '../../http/exchange.ts'
import type { Sizes } from '../../http/sizes.ts'
import type { ImageRequest } from '../../wire/images.ts'
import { check } from '../check.ts'
import type { Order } from '../endpoint.ts'
import { jsonOrder } from '../order.ts'

/** The fields that generations and edits have in common. */
export const imageFields: Readonly<Record<string, z.ZodType>> = {
  model: z.string().min(1),
  prompt: z.string().min(1),
  n: z.int().min(1).nullish(),
  size: z.string().nullish(),
  quality: z.string().nullish(),
  response_format: z.enum(['url', 'b64_json']).nullish(),
  output_format: z.string().nullish(),
  output_compression: z.int().min(0).max(100).nullish(),
  background: z.string().nullish(),
  stream: z.boolean().nullish(),
  partial_images: z.int().min(0).max(3).nullish(),
  user: z.string().nullish(),
}

const schema = z.looseObject({ ...imageFields, moderation: z.string().nullish(), style: z.string().nullish() })

/** Reads and validates an image generation. */
export async function readGeneration(exchange: Exchange, sizes: Sizes): Promise<Order<ImageRequest>> {
  const body = await readJson(exchange, sizes)
  check(schema, body)
  return jsonOrder<ImageRequest>(body)
}
