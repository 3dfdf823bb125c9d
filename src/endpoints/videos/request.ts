/** The video request, by the specification's shape or by OpenAI's. */
import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import * as z from 'zod'
import { GatewayError, invalid } from '../../errors.ts'
import { readJson } from '../../http/body.ts'
import type { Exchange } from '../../http/exchange.ts'
import type { JsonObject } from '../../http/json-body.ts'
import type { Sizes } from '../../http/sizes.ts'
import { isForm } from '../../http/upload.ts'
import { idempotencyKeyOf } from '../../http/idempotency-key.ts'
import type { Model } from '../../models/contract.ts'
import { fitCosts } from '../../models/cost-guard.ts'
import { ratioOf } from '../../providers/videos/shape.ts'
import { othersTurn } from '../../providers/turns.ts'
import type { VideoLimits } from '../../providers/video.ts'
import type { VideoRequest } from '../../wire/video.ts'
import { check } from '../check.ts'
import { readVideoForm } from './form.ts'

/** Bytes that are hashed in one turn of the event loop. */
const digestBytes = 4_194_304

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
  await othersTurn({ large: body.isLarge })
  const digest = await digestOf(body.bytes)
  await othersTurn({ large: body.isLarge })
  const wanted = shape === 'openai' ? seconds : duration
  return {
    model: model as string,
    fields,
    duration: wanted === undefined || wanted === null ? undefined : Number(wanted),
    durationField: shape === 'openai' ? 'seconds' : 'duration',
    async: wait !== false,
    digest,
    idempotencyKey: idempotencyKeyOf(exchange),
  }
}

/** SHA-256, of a large body in several turns of the event loop. */
async function digestOf(bytes: Buffer): Promise<string> {
  const hash = createHash('sha256')
  for (let at = 0; at < bytes.length; at += digestBytes) {
    if (at > 0) await nextTurn()
    hash.update(bytes.subarray(at, at + digestBytes))
  }
  return hash.digest('hex')
}

/** The request as providers get it. Throws 400 that names what the model allows. */
export function videoRequest(order: VideoOrder, model: Model): VideoRequest {
  return requestOf(fitted(order, model), model)
}

/** Without what the model does not leave to its callers, and with what it fixes. */
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
  const durations = video.durations ?? usualDurations
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

/** What the client chose, or the first of the model's that is of the ratio and resolution asked for, or its first. */
function sizeOf(fields: JsonObject, { sizes }: VideoLimits): string | undefined {
  const { size: asked, resolution } = fields
  if (asked !== undefined && asked !== null) return asked as string
  // A resolution in pixels is a size by another name.
  if (size.safeParse(resolution).success) return resolution as string
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

/** What the host says of the model, or the first provider that makes videos of it. Throws 400 where none does. */
function limitsOf({ video, deployments }: Model): VideoLimits {
  const first = deployments.find(({ provider }) => provider.video !== undefined)
  if (first === undefined) {
    throw new GatewayError('unsupported_value', { param: 'model', message: 'This model does not make videos.' })
  }
  return video ?? first.provider.video?.limits?.(first.model) ?? {}
}
