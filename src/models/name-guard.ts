/** Names of models with which clients would choose more than a model, such as OpenRouter's `:online`. */
import { refusedField } from '../errors.ts'
import type { CostRules } from '../providers/costs/contract.ts'
import type { Deployment, Model } from './contract.ts'

/** Throws a 400 if the client chose a name with a part that changes the cost and that the options do not allow. */
export function checkName(
  { nameParts }: CostRules,
  { id, allow: own }: Model,
  { open, model, allow }: Deployment,
): void {
  if (nameParts === undefined || open !== true) return
  const name = `${model.toLowerCase().replaceAll(/\s/g, '')}:`
  const allowed = own ?? allow ?? []
  for (const [part, field] of Object.entries(nameParts)) {
    const occurs = name.includes(part.endsWith('/') ? part : `${part}:`)
    if (!occurs || allowed.includes(part) || allowed.includes(field)) continue
    throw refusedField(
      `The model name "${id.slice(0, 128)}" must not contain "${part}", because it changes the cost.`,
      'model',
    )
  }
}
