/** Declares the request fields that change what a vendor charges. */
import type { ConversationTypes } from './conversation.ts'

/**
 * The values of a field that do not change the cost, such as `['auto', 'default']`, or a function that recognises them.
 * `field` returns other fields of the request. `null` is always harmless.
 */
export type Harmless = readonly unknown[] | ((value: unknown, field: (name: string) => unknown) => boolean)

/** The request fields, tools and parts of a model's name of one endpoint that select another model, price or amount of work at a vendor. */
export interface CostRules {
  /** Keyed by the vendor's name for the field. Upper case, hyphens and camel case match the same name. */
  readonly fields: Readonly<Record<string, Harmless>>
  /**
   * Those of `fields` that clients send to every model. They are removed from the request instead of rejected. Default:
   * none.
   */
  readonly offeredFields?: readonly string[]
  /**
   * The types of `tools` that the client runs itself; one that ends in `_` is followed by a version. All others run at the
   * vendor, which charges for them, and are rejected. Default: no type is rejected.
   */
  readonly clientTools?: readonly string[]
  /** The types of items, blocks and parts that requests may contain. Default: the vendor receives none as it is. */
  readonly conversation?: ConversationTypes
  /** Whether requests are translated, so that fields about where they are processed do not arrive. Default: no. */
  readonly isTranslated?: boolean
  /**
   * Fields that may refer to files of the host's account by `file_id`: rejected then, unless the host allows `files`. Default:
   * none.
   */
  readonly fileFields?: readonly string[]
  /**
   * Parts of a model's name that have the effect of a field, such as `{ ':online': 'plugins' }`, where clients choose the
   * name. A part that ends in `/` is followed by more; any other ends the name or is followed by a colon. Default: none.
   */
  readonly nameParts?: Readonly<Record<string, string>>
  /**
   * Prefixes of types of `tools` that clients send to every model. They are removed from the request instead of rejected.
   * Default: none.
   */
  readonly offeredTools?: readonly string[]
  /**
   * Whether a `tool_choice` in the format of Anthropic's API is removed together with the tool that it names, or with all tools.
   * Default: it is passed on.
   */
  readonly freesChoice?: boolean
}

/** Returns the rules of an endpoint, by its name in receipts; undefined if no field of it changes the cost. */
export type CostsOf = (endpoint: string) => CostRules | undefined
