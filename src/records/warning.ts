/** What is probably a mistake in the options, although it is valid. */
export interface ConfigWarning {
  /** What it is. Stable. */
  readonly code: WarningCode
  /** The option, such as `groups.trial.priceMultiplier`. */
  readonly where: string
  /** What is probably wrong, and what to change. Contains no secrets. */
  readonly message: string
}

/** The kinds of warnings. */
export type WarningCode =
  | 'balances_in_memory'
  | 'base_url_without_version'
  | 'cap_without_user'
  | 'cost_drift'
  | 'key_without_account'
  | 'model_retires'
  | 'no_callers'
  | 'no_models'
  | 'no_vendor_key'
  | 'price_factor'
  | 'price_per_token'
  | 'price_without_billing'
  | 'threshold_below_one'
  | 'unknown_currency'
  | 'unused_own_price'
  | 'usage_in_memory'

/** A factor on prices that reads like a percentage or its fraction, such as `'0.2'` and `'20'` for 20 %. */
export function factorWarning(where: string, factor: string): ConfigWarning[] {
  const value = Number(factor)
  if (value === 0 || (value >= 0.5 && value < 5)) return []
  const message = `is a factor, so '${factor}' charges ${factor} times the price. For 20 % more write '1.2', for 20 % less '0.8'.`
  return [{ code: 'price_factor', where, message }]
}
