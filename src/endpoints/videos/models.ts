/** The list of video models, in the format of OpenRouter's endpoint of this name (`VideoModel` in its OpenAPI document). */
import { jsonReply } from '../../http/answers.ts'
import { queryOf } from '../../http/target.ts'
import type { Model } from '../../models/contract.ts'
import { fitCosts } from '../../models/cost-guard.ts'
import { ratioOf, usualRatios } from '../../providers/videos/aspect-ratio.ts'
import type { VideoAbilities, VideoShapes } from '../../providers/video.ts'
import { defineEndpoint } from '../define.ts'
import type { QueryEndpoint } from '../endpoint.ts'
import { pageAfter } from '../models/paging.ts'
import { abilitiesOf, defaultDurations } from './limits.ts'

/** `GET /v1/videos/models`. */
export const listVideoModels: QueryEndpoint = defineEndpoint({
  method: 'GET',
  path: '/v1/videos/models',
  name: 'videos.models.list',
  async answer({ catalogue, caller, exchange, services }) {
    const models = await catalogue.list(caller, exchange.signal)
    const able = models.filter((model) => abilitiesOf(model) !== undefined)
    const { page, more } = pageAfter(able, queryOf(exchange.target))
    const data = page.map((model) => videoModel(model, services.shownPrice?.(model, caller)))
    return jsonReply({ object: 'list', data, ...more })
  },
})

/** `null` says that the gateway does not know it: the vendor decides. */
function videoModel(model: Model, price: object | undefined): object {
  const abilities = abilitiesOf(model) ?? {}
  const { durations = defaultDurations, frames = null, fields } = abilities
  const sizes = sizesOf(abilities)
  const usable = fields?.filter((name) => mayUse(model, name))
  const has = (name: string) => usable?.includes(name) ?? null
  const byResolution = mayUse(model, 'resolution', abilities.sizes?.[0])
  return {
    id: model.id,
    object: 'model',
    canonical_slug: model.id,
    name: model.displayName ?? model.id,
    created: model.created,
    owned_by: model.ownedBy,
    supported_durations: durations,
    supported_sizes: sizes ?? null,
    supported_resolutions: byResolution && sizes ? distinct(sizes.map(resolutionOf)) : null,
    supported_aspect_ratios: sizes ? distinct(sizes.flatMap((size) => ratioOf(size, usualRatios) ?? [])) : null,
    supported_frame_images: frames,
    generate_audio: has('generate_audio'),
    seed: has('seed'),
    allowed_passthrough_parameters: usable?.filter((name) => name !== 'generate_audio' && name !== 'seed') ?? [],
    ...(price && { price }),
  }
}

/** Whether a request may set a field to any value. */
function mayUse(model: Model, name: string, size?: string): boolean {
  const field = (other: string) => (other === name ? {} : other === 'size' ? size : undefined)
  try {
    fitCosts('videos', { names: () => [name], field }, model)
    return true
  } catch {
    return false
  }
}

function sizesOf({ sizes, shapes }: VideoAbilities): readonly string[] | undefined {
  return sizes ?? (shapes && sizesIn(shapes))
}

/** Each ratio in each resolution. Sides are even numbers, as videos have them. */
function sizesIn({ ratios, resolutions }: VideoShapes): string[] {
  return [...resolutions.keys()].flatMap((pixels) =>
    ratios.map((ratio) => {
      const [across = 1, down = 1] = ratio.split(':').map(Number)
      const longer = 2 * Math.round((pixels * Math.max(across, down)) / Math.min(across, down) / 2)
      return across < down ? `${pixels}x${longer}` : `${longer}x${pixels}`
    }),
  )
}

function resolutionOf(size: string): string {
  return `${Math.min(...size.split('x').map(Number))}p`
}

function distinct(values: readonly string[]): string[] {
  return [...new Set(values)]
}
