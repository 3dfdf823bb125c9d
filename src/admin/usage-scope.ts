/** The requests of one account, or explicitly of all. */
export type UsageScope =
  | {
      /** The account whose requests are selected. */
      readonly account: string
      /** Not with `account`. */
      readonly all?: never
    }
  | {
      /** All accounts, for pages of the operator only. */
      readonly all: true
      /** Not with `all`. */
      readonly account?: never
    }
