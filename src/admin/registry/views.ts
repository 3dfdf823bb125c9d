import type { Group } from '../../models/group-fields.ts'
import { modelFields, type ModelProperties } from '../../models/model-fields.ts'
import { optionsOf, type ModelEntry } from '../../models/model-options.ts'
import type { StoredDeployment, StoredGroup, StoredModel } from '../../models/stored/documents.ts'

/** Where a model, group or price is from, and what administration may do with it. */
export interface Origin {
  /** `options`: set in the code of the host, and changed there only. */
  readonly source: 'options' | 'registry'
  /** For the next change. Absent of what is set in the options. */
  readonly version?: number
  /** Why it is not served, such as a provider that this process does not have. */
  readonly fault?: string
}

/** A model of the options or of the registry. */
export interface RegistryModelView extends StoredModel, Origin {
  /** The name that clients use. */
  readonly id: string
  /** Milliseconds since the epoch. Absent of what is set in the options. */
  readonly createdAt?: number
}

/** A group of the options or of the registry. */
export interface RegistryGroupView extends StoredGroup, Origin {
  /** Its name. */
  readonly id: string
  /** Milliseconds since the epoch. Absent of what is set in the options. */
  readonly createdAt?: number
}

const names = Object.keys(modelFields) as readonly (keyof ModelProperties)[]

/** A model of the options, without what is a secret or a function. */
export function ownModel(id: string, entry: ModelEntry): RegistryModelView {
  const options = optionsOf(entry)
  const chosen = names.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]] as const]))
  return { id, source: 'options', ...Object.fromEntries(chosen), deployments: deploymentsOf(entry) }
}

export function ownGroup(id: string, group: Group): RegistryGroupView {
  return { id, source: 'options', ...group }
}

function deploymentsOf(entry: ModelEntry): StoredDeployment[] {
  const { provider, providerModel, route = [] } = optionsOf(entry)
  if (provider !== undefined) {
    return [{ provider: provider.name, ...(providerModel !== undefined && { providerModel }) }]
  }
  return route.map((step) => {
    if (typeof step === 'string') return { model: step }
    return 'provider' in step ? { ...step, provider: step.provider.name } : step
  })
}
