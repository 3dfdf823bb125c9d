/** What a video model can do: what its provider declares, with the durations and sizes of the host. */
import { refusedValue } from '../../errors.ts'
import type { Model } from '../../models/contract.ts'
import type { VideoAbilities, VideoLimits } from '../../providers/video.ts'

/** Durations in seconds that the specification allows for models without a list of their own. */
export const defaultDurations: readonly number[] = [5, 10, 15, 20]

/**
 * The limits that the registry sets for the model, else those of its first video provider. Throws 400 if it has none.
 */
export function limitsOf(model: Model): VideoLimits {
  if (!model.deployments.some(({ provider }) => provider.video !== undefined)) {
    throw refusedValue('This model does not make videos.', 'model')
  }
  return model.video ?? declaredBy(model) ?? {}
}

/** Undefined for a model that makes no videos, or of which that is not known. */
export function abilitiesOf(model: Model): VideoAbilities | undefined {
  const declared = declaredBy(model)
  if (model.video === undefined) return declared
  const { durations: _, sizes: __, ...others } = declared ?? {}
  return { ...others, ...model.video }
}

function declaredBy({ deployments }: Model): VideoAbilities | undefined {
  const first = deployments.find(({ provider }) => provider.video !== undefined)
  return first?.provider.video?.limits?.(first.model)
}
