import * as z from 'zod'
import { storedGroupFields, storedModelFields, storedPriceFields } from '../../../models/stored/documents.ts'
import { optionalOf } from '../../../records/rules.ts'
import type { DocumentChange } from '../../registry/documents.ts'
import { groupRules, modelRules } from '../../registry/kinds.ts'
import { priceRule, type PriceRequest } from '../../registry/prices.ts'
import type { StoredGroup, StoredModel } from '../../../models/stored/documents.ts'
import { id, time } from '../../questions.ts'

const origin = {
  source: z.enum(['options', 'registry']).describe('`options`: set in the code of the host, and changed there only.'),
  version: z.int().optional().describe('For the next change.'),
  createdAt: time.optional(),
  fault: z.string().optional().describe('Why this process does not serve it.'),
}

type Named<Fields> = Fields & { readonly id: string }

/** A new model, and a change of one. */
export const newModel = modelRules.create as z.ZodType<Named<StoredModel>>
export const modelChange = modelRules.update as z.ZodType<DocumentChange<StoredModel>>

/** A new group, and a change of one. */
export const newGroup = groupRules.create as z.ZodType<Named<StoredGroup>>
export const groupChange = groupRules.update as z.ZodType<DocumentChange<StoredGroup>>

/** A new price. */
export const newPrice = priceRule as unknown as z.ZodType<PriceRequest>

/** A model as it is set. */
export const registryModel: z.ZodObject = z.object({ id, ...origin, ...optionalOf(storedModelFields) })

/** A group as it is set. */
export const registryGroup: z.ZodObject = z.object({ id, ...origin, ...optionalOf(storedGroupFields) })

/** A price from a moment on. */
export const registryPrice: z.ZodObject = z.object({
  ...optionalOf(storedPriceFields),
  isPlanned: z.boolean().describe('Whether it does not apply yet, and so can be removed.'),
})
