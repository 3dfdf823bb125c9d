/** The price table that a price is from. */
export interface PriceSource {
  /** The name and version of the table, such as `@pydantic/genai-prices 0.1.8`. */
  readonly name: string
  /** The day of its data, as `YYYY-MM-DD`. Absent if unknown. */
  readonly date?: string
}
