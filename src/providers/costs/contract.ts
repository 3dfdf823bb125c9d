/** The fields of a request by which its sender would choose another model, price or amount of work at a vendor. */

/**
 * The values of a field that choose nothing, such as `['auto', 'default']`, or a function that tells them. `field` reads
 * other fields of the request. `null` never chooses anything.
 */
export type Harmless = readonly unknown[] | ((value: unknown, field: (name: string) => unknown) => boolean)

export interface CostRules {
  /** By the vendor's name for the field; other case, hyphens and camel case are taken for the same name. */
  readonly fields: Readonly<Record<string, Harmless>>
  /**
   * The types of `tools` that the client runs itself. All other types run at the vendor, which charges for them. Absent:
   * any type passes.
   */
  readonly clientTools?: readonly string[]
  /** Beginnings of types of `tools` that clients offer to every model: left out of the request instead of refused. */
  readonly offeredTools?: readonly string[]
}

export type CostsOf = (endpoint: string) => CostRules | undefined
