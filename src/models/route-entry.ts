import * as z from 'zod'
import type { CostOptions } from '../money/prices/cost.ts'
import { longestTimerMs } from '../records/known-options.ts'
import type { Provider } from '../providers/contract.ts'

/**
 * Why another deployment is tried: `unavailable`, one failed; `context`, the request was too long for it; `policy`, its vendor's
 * filter rejected the request.
 */
export type FallbackReason = 'unavailable' | 'context' | 'policy'

/** One deployment of a `route`. */
export type RouteEntry =
  /** Another model of the options, by name. */
  | string
  | (RouteStep & {
      /** Another model of the options, by name: all its deployments. */
      readonly model: string
    })
  | (RouteStep & {
      /** The provider that is called. */
      readonly provider: Provider
      /** The provider's name for the model. Default: the name of the model in the options. */
      readonly providerModel?: string
      /** What calls cost the host, as in the options of a model. Default: the list price of the price table. */
      readonly cost?: CostOptions
    })

/** When a deployment of a `route` is tried. */
export interface RouteStep {
  /** Entries are tried in ascending order. Default: the position in the list. */
  readonly order?: number
  /** Among entries of the same order, the share of conversations, or of requests without one. Default 1. */
  readonly weight?: number
  /**
   * Maximum tokens of input and output together. Requests that seem too long for an entry try larger ones first, and a request
   * that the vendor finds too long goes on to a larger one. Default: that of the model, if the entry names one.
   */
  readonly contextWindow?: number
  /**
   * The failures of other entries after which this one is tried: `unavailable`, `context` (the request was too long) and `policy`
   * (the vendor's filter rejected the request). Default: it is tried in its order, and after `unavailable`.
   */
  readonly when?: readonly FallbackReason[]
  /**
   * Milliseconds until the first content of a stream; then the next entry is tried. `usual`: what 99 % of the latest streams at
   * this entry took at most, once 50 are known. Default: no limit but `timeouts.firstContentMs`.
   */
  readonly firstContentMs?: number | 'usual'
  /**
   * Milliseconds until the end of the answer. Before its first content the next entry is tried then; after it the stream ends with
   * an error. Default: no limit.
   */
  readonly timeoutMs?: number
}

/** The rule of each field of a `RouteStep`. */
export const routeStepFields: Readonly<Record<keyof RouteStep, z.ZodOptional>> = {
  order: z.number().optional().describe('Deployments are tried in ascending order. Default: the position in the list.'),
  weight: z
    .number()
    .min(0)
    .optional()
    .describe('Among those of the same order, the share of conversations. Default 1.'),
  contextWindow: z.int().positive().optional(),
  when: z
    .array(z.enum(['unavailable', 'context', 'policy']))
    .min(1)
    .optional()
    .describe('The failures of others after which it is tried. Default: it is tried in its order.'),
  firstContentMs: z.union([z.int().positive().max(longestTimerMs), z.literal('usual')]).optional(),
  timeoutMs: z.int().positive().max(longestTimerMs).optional(),
}
