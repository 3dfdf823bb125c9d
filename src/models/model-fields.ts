/** What is chosen of a model, in the options or by administration. A new field is a line of `ModelProperties` and one of `modelFields`. */
import * as z from 'zod'
import type { DisconnectPolicy } from '../money/disconnect.ts'
import type { VideoLimits } from '../providers/video.ts'
import type { ScopedRate } from '../records/rate.ts'
import { scopedRate } from '../records/rate-rules.ts'
import { onDisconnect, strict } from '../records/rules.ts'

/** What an image model supports. Requests for anything else are rejected with a 400 that lists the valid values. */
export interface ImageAbilities {
  /** Valid values of `size`. Default: any `<width>x<height>`, and `auto`. */
  readonly sizes?: readonly string[]
  /** Valid values of `quality`. Default: those of OpenAI: `standard`, `hd`, `low`, `medium`, `high`, `auto`. */
  readonly qualities?: readonly string[]
  /** Maximum number of images per request. Default 10. */
  readonly maxN?: number
  /** Whether the model edits images. Default true. */
  readonly edits?: boolean
  /** Whether the model makes variations of an image. Default true. */
  readonly variations?: boolean
  /**
   * Whether the vendor accepts the field `response_format`. False for vendors that always return base64 and reject the
   * field, which is then not sent. Default true.
   */
  readonly responseFormat?: boolean
}

/** The fields of a model that do not say how it is served. */
export interface ModelProperties {
  /**
   * Which entry of equal order comes first: the one at the lowest price for the request, or the one that usually begins soonest.
   * A conversation stays where its beginning is cached while that is worth more. Default: any, by `weight`.
   */
  readonly prefer?: 'price' | 'latency'
  /**
   * Whether a stream that breaks off goes on at the next deployment: it gets the text so far. Calls of tools are then sent to the
   * client when they are complete. Default false.
   */
  readonly continue?: boolean
  /** Other names of the model. Not listed. */
  readonly aliases?: readonly string[]
  /** The groups that may use the model. Default: every group whose `models` include it. */
  readonly groups?: readonly string[]
  /** The name that people see in clients that show one, such as Claude Code. Default: the name clients use. */
  readonly displayName?: string
  /** `owned_by` in the list. Default: the provider's name. */
  readonly ownedBy?: string
  /** Maximum tokens of input and output together. */
  readonly contextWindow?: number
  /** Maximum output tokens. */
  readonly maxOutputTokens?: number
  /** What an image model supports, such as `imageModels.dallE3`. Default: everything. */
  readonly image?: ImageAbilities
  /** What a video model supports: `portraitVideo`, `landscapeVideo`, or other limits. Default: what its provider declares. */
  readonly video?: VideoLimits
  /** What happens when a client disconnects. Default: `billing.onDisconnect`. */
  readonly onDisconnect?: DisconnectPolicy
  /** Limits of the model, counted for all callers together unless `per` is set. */
  readonly rate?: ScopedRate
  /**
   * Fields and types of `tools` that clients may use although they change the vendor's model, price or amount of work,
   * such as `['service_tier', 'code_interpreter']`. Without this they are rejected. Default for a `route` without a price
   * of its own: as in the model that serves the request.
   */
  readonly allow?: readonly string[]
  /**
   * Top-level fields that are set in every request, such as `{ service_tier: 'flex' }`. They replace the client's values.
   * The fields of the models in a `route` apply as well.
   */
  readonly set?: Readonly<Record<string, unknown>>
}

/** The rule of each field, with what the OpenAPI document says of it. */
export const modelFields: Readonly<Record<keyof ModelProperties, z.ZodType>> = {
  displayName: z
    .string()
    .min(1)
    .max(200)
    .describe('The name that people see in clients that show one. Default: the id.'),
  aliases: z.array(z.string()).describe('Other names of the model.'),
  groups: z.array(z.string()).describe('The groups that may use the model. Default: all whose `models` include it.'),
  contextWindow: z.int().positive().describe('Maximum tokens of input and output together.'),
  maxOutputTokens: z.int().positive().describe('Maximum output tokens.'),
  prefer: z
    .enum(['price', 'latency'])
    .describe('Which deployment of equal order comes first. Default: any, by `weight`.'),
  continue: z.boolean().describe('Whether a stream that breaks off goes on at the next deployment.'),
  ownedBy: z.string().describe('`owned_by` in the list. Default: the name of the provider.'),
  allow: z
    .array(z.string().min(1))
    .describe('Fields and tools that clients may use although they change what a call costs.'),
  rate: scopedRate.describe('Limits of the model, such as `{ "requests": "60/min", "per": "account" }`.'),
  set: z
    .record(z.string(), z.unknown())
    .refine((given) => !['model', 'stream'].some((name) => name in given), 'cannot fix "model" or "stream"')
    .describe("Top-level fields that are set in every request and replace the client's."),
  image: strict({
    sizes: z.array(z.string()).min(1),
    qualities: z.array(z.string()).min(1),
    maxN: z.int().min(1),
    edits: z.boolean(),
    variations: z.boolean(),
    responseFormat: z.boolean(),
  })
    .partial()
    .describe('What an image model supports. Default: everything.'),
  video: strict({ durations: z.array(z.int().positive()).min(1), sizes: z.array(z.string()).min(1) })
    .partial()
    .describe('What a video model supports. Default: what its provider declares.'),
  onDisconnect: onDisconnect.describe('What happens when a client disconnects.'),
}
