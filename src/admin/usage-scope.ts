/** What is of one account, or explicitly of all. */
export type UsageScope =
  | {
      /** The account. */
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
