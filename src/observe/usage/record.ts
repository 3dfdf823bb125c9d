import type { Receipt } from '../../money/receipt.ts'
import type { UsageRecord } from './contract.ts'
import { usageFieldsWith } from './fields.ts'
import { units, usageUnits } from './units.ts'

/** What the charge of a request adds to its receipt. */
interface Charged extends Pick<UsageRecord, 'cost' | 'overage' | 'basis'> {
  readonly vendorCost?: UsageRecord['vendorCost'] | undefined
  readonly lines?: UsageRecord['lines'] | undefined
}

/** The fields that receipts have, too. */
const received = usageFieldsWith(({ kept }) => kept !== 'count').concat('firstByteMs')

/** The usage record of a receipt. */
export function usageRecordOf(receipt: Receipt, charged: Charged): UsageRecord {
  const record: Record<string, unknown> = {}
  for (const name of received) {
    const value = charged[name as keyof Charged] ?? receipt[name as keyof Receipt]
    if (value !== undefined) record[name] = value
  }
  for (const unit of usageUnits) record[unit] = units[unit].of(receipt) ?? 0
  return record as unknown as UsageRecord
}
