/** Validation of video requests, in the shape of the specification or of OpenAI. */
import * as z from 'zod'
import { invalid } from '../../errors.ts'
import { readJson } from '../../http/body.ts'
import type { Exchange } from '../../http/exchange.ts'
import type { JsonObject } from '../../http/json-body.ts'
import type { Sizes } from '../../http/sizes.ts'
import { isForm } from '../../http/upload.ts'
import { idempotencyKeyOf } from '../../http/idempotency-key.ts'
import type { Model } from '../../models/contract.ts'
import { fitCosts } from '../../models/cost-guard.ts'
import { ratioOf } from '../../providers/videos/aspect-ratio.ts'
import { yieldIfLarge } from '../../providers/yielding.ts'
import type { VideoLimits } from '../../providers/video.ts'
import type { VideoRequest } from '../../wire/video.ts'
import { bodyDigest } from '../body-digest.ts'
import { check } from '../check.ts'
import { readVideoForm } from './form.ts'
import { defaultDurations, limitsOf } from './limits.ts'
import { lazy } from '../../records/lazy.ts'

const prompt = lazy(() => z.string().min(1).max(32_000))
const size = lazy(() => z.string().regex(/^\d{2,5}x\d{2,5}$/, 'must have the form "<width>x<height>"'))

const specification = lazy(() =>
  z.looseObject({
    model: z.string().min(1),
    prompt: prompt(),
    duration: z.int().nullish(),
    async: z.boolean().nullish(),
    size: size().nullish(),
  }),
)

const openai = lazy(() =>
  z.looseObject({
    model: z.string().min(1),
    prompt: prompt(),
    /** A string in OpenAI's clients. */
    seconds: z.union([z.int(), z.string().regex(/^\d{1,3}$/, 'must be a whole number of seconds')]).nullish(),
    size: size().nullish(),
  }),
)

/** A video request that was read, before its model is known. */
export interface VideoOrder {
  readonly model: string
  readonly fields: JsonObject
  /** Seconds; undefined: the shortest duration of the model. */
  readonly duration: number | undefined
  /** The request field of `duration`, for error messages. */
  readonly durationField: 'duration' | 'seconds'
  /** False: the response waits for the video. */
  readonly async: boolean
  /** SHA-256 of the body, to compare requests with the same idempotency key. */
  readonly digest: string
  readonly idempotencyKey: string | undefined
}

/** Reads and validates a video request in the given shape. */
export async function readVideo(
  exchange: Exchange,
  sizes: Sizes,
  shape: 'specification' | 'openai',
): Promise<VideoOrder> {
  const body = isForm(exchange) ? await readVideoForm(exchange, sizes) : await readJson(exchange, sizes)
  check((shape === 'openai' ? openai : specification)(), body)
  const { model, duration, seconds, async: wait, ...fields } = body.value
  await yieldIfLarge({ large: body.isLarge })
  const digest = await bodyDigest(body)
  await yieldIfLarge({ large: body.isLarge })
  const requested = shape === 'openai' ? seconds : duration
  return {
    model: model as string,
    fields,
    duration: requested === undefined || requested === null ? undefined : Number(requested),
    durationField: shape === 'openai' ? 'seconds' : 'duration',
    async: wait !== false,
    digest,
    idempotencyKey: idempotencyKeyOf(exchange),
  }
}

/** The request for providers. Throws 400 for a duration or size that the model does not support. */
export function videoRequest(order: VideoOrder, model: Model): VideoRequest {
  return requestOf(fitted(order, model), model)
}

/** The order without fields that the model does not let callers set, and with those that it sets itself. */
function fitted(order: VideoOrder, model: Model): VideoOrder {
  const { fields } = order
  const field = (name: string) => {
    const value = Object.hasOwn(fields, name) ? fields[name] : undefined
    return name === 'size' ? sizeOf(fields, limitsOf(model)) : value
  }
  const changes = fitCosts('videos', { names: () => Object.keys(fields), field }, model)
  if (changes === undefined) return order
  const { duration = order.duration, seconds: _, ...changed } = changes
  return { ...order, duration: duration as number | undefined, fields: { ...fields, ...changed } }
}

function requestOf(order: VideoOrder, model: Model): VideoRequest {
  const video = limitsOf(model)
  const durations = video.durations ?? defaultDurations
  const duration = order.duration ?? Math.min(...durations)
  if (!durations.includes(duration)) {
    throw invalid(
      `"${order.durationField}" must be one of ${durations.join(', ')} (seconds) for this model.`,
      order.durationField,
    )
  }
  const { prompt, size: _, ...extra } = order.fields
  const chosen = sizeOf(order.fields, video)
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

/** The requested size, or the first size of the model with the requested aspect ratio and resolution, or its first. */
function sizeOf(fields: JsonObject, { sizes }: VideoLimits): string | undefined {
  const { size: requested, resolution } = fields
  if (requested !== undefined && requested !== null) return requested as string
  // Some clients send the size as `resolution`.
  if (size().safeParse(resolution).success) return resolution as string
  return sizes?.find((each) => isOf(each, fields)) ?? sizes?.[0]
}

function isOf(size: string, fields: JsonObject): boolean {
  const ratio = fields['aspect_ratio'] ?? fields['aspectRatio'] ?? fields['ratio']
  const pixels = resolutionPixels(fields['resolution'])
  return (
    (typeof ratio !== 'string' || ratioOf(size, [ratio]) !== undefined) &&
    (pixels === undefined || pixels === Math.min(...size.split('x').map(Number)))
  )
}

/** `720p` → 720. */
function resolutionPixels(name: unknown): number | undefined {
  if (typeof name !== 'string') return undefined
  return name.toLowerCase() === '4k' ? 2160 : Number(/^(\d{3,4})p$/i.exec(name)?.[1] ?? 0) || undefined
}
