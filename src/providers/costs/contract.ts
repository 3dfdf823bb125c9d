/** Declares the request fields that change what a vendor charges. */

/**
 * The values of a field that do not change the cost, such as `['auto', 'default']`, or a function that recognises them.
 * `field` returns other fields of the request. `null` is always harmless.
 */
export type Harmless = readonly unknown[] | ((value: unknown, field: (name: string) => unknown) => boolean)

/** The request fields and tools of one endpoint that select another model, price or amount of work at a vendor. */
export interface CostRules {
  /** Keyed by the vendor's name for the field. Upper case, hyphens and camel case match the same name. */
  readonly fields: Readonly<Record<string, Harmless>>
  /**
   * The types of `tools` that the client runs itself. All others run at the vendor, which charges for them, and are
   * rejected. Default: no type is rejected.
   */
  readonly clientTools?: readonly string[]
  /**
   * Prefixes of types of `tools` that clients send to every model. They are removed from the request instead of rejected.
   * Default: none.
   */
  readonly offeredTools?: readonly string[]
}

/** Returns the rules of an endpoint, by its name in receipts; undefined if no field of it changes the cost. */
export type CostsOf = (endpoint: string) => CostRules | undefined
