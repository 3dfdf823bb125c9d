/** The video request, by the specification's shape or by OpenAI's. */
import { createHash } from 'node:crypto'
import * as z from 'zod'
import { GatewayError, invalid } from '../../errors.ts'
import { readJson } from '../../http/body.ts'
import type { Exchange } from '../../http/exchange.ts'
import type { JsonObject } from '../../http/json-body.ts'
import type { Sizes } from '../../http/sizes.ts'
import { isForm } from '../../http/upload.ts'
import { idempotencyKeyOf } from '../../idempotency/key.ts'
import type { Model } from '../../models/contract.ts'
import type { VideoLimits } from '../../providers/video.ts'
import type { VideoRequest } from '../../wire/video.ts'
import { check } from '../check.ts'
import { readVideoForm } from './form.ts'

/** What the specification allows where a model says nothing else. Seconds. */
const usualDurations: readonly number[] = [5, 10, 15, 20]

const prompt = z.string().min(1).max(32_000)
const size = z.string().regex(/^\d{2,5}x\d{2,5}$/, 'must have the form "<width>x<height>"')

const specification = z.looseObject({
  model: z.string().min(1),
  prompt,
  duration: z.int().nullish(),
  async: z.boolean().nullish(),
  size: size.nullish(),
})

const openai = z.looseObject({
  model: z.string().min(1),
  prompt,
  /** OpenAI's clients send a string. */
  seconds: z.union([z.int(), z.string().regex(/^\d{1,3}$/, 'must be a whole number of seconds')]).nullish(),
  size: size.nullish(),
})

/** A request that was read, before its model is known. */
export interface VideoOrder {
  readonly model: string
  readonly fields: JsonObject
  /** Seconds; undefined: the model's shortest. */
  readonly duration: number | undefined
  /** The name of the field that `duration` came from. */
  readonly durationField: 'duration' | 'seconds'
  /** False: the client waits for the video. */
  readonly async: boolean
  readonly digest: string
  readonly idempotencyKey: string | undefined
}

export async function readVideo(
  exchange: Exchange,
  sizes: Sizes,
  shape: 'specification' | 'openai',
): Promise<VideoOrder> {
  const body = isForm(exchange) ? await readVideoForm(exchange, sizes) : await readJson(exchange, sizes)
  check(shape === 'openai' ? openai : specification, body)
  const { model, duration, seconds, async: wait, ...fields } = body.value
  const wanted = shape === 'openai' ? seconds : duration
  return {
    model: model as string,
    fields,
    duration: wanted === undefined || wanted === null ? undefined : Number(wanted),
    durationField: shape === 'openai' ? 'seconds' : 'duration',
    async: wait !== false,
    digest: createHash('sha256').update(body.bytes).digest('hex'),
    idempotencyKey: idempotencyKeyOf(exchange),
  }
}

/** The request as providers get it. Throws 400 that names what the model allows. */
export function videoRequest(order: VideoOrder, model: Model): VideoRequest {
  const video = limitsOf(model)
  const durations = video.durations ?? usualDurations
  const duration = order.duration ?? Math.min(...durations)
  if (!durations.includes(duration)) {
    throw invalid(
      `"${order.durationField}" must be one of ${durations.join(', ')} (seconds) for this model.`,
      order.durationField,
    )
  }
  const { prompt, size, ...extra } = order.fields
  const chosen = (size ?? video.sizes?.[0]) as string | undefined
  if (chosen !== undefined && video.sizes !== undefined && !video.sizes.includes(chosen)) {
    throw invalid(`"size" must be one of ${video.sizes.join(', ')} for this model.`, 'size')
  }
  return {
    ...extra,
    model: order.model,
    prompt: prompt as string,
    duration,
    ...(chosen !== undefined && { size: chosen }),
  }
}

/** What the host says of the model, or the first provider that makes videos of it. Throws 400 where none does. */
function limitsOf({ video, deployments }: Model): VideoLimits {
  const first = deployments.find(({ provider }) => provider.video !== undefined)
  if (first === undefined) {
    throw new GatewayError('unsupported_value', { param: 'model', message: 'This model does not make videos.' })
  }
  return video ?? first.provider.video?.limits?.(first.model) ?? {}
}
