import * as z from 'zod'
import { GatewayError } from '../../../errors.ts'
import { forOperator, type Route } from '../route.ts'
import { id, time } from '../../questions.ts'
import { countNames } from '../../reconcile/compare.ts'
import { component, count } from '../schemas/values.ts'

const amount = z.string().describe('A decimal string in the currency of the gateway; may be negative.')

/** The rule for each count. */
function counted(rule: z.ZodType): z.ZodRawShape {
  return Object.fromEntries(countNames.map((name) => [name, rule]))
}

const counts = component('Counts', z.object(counted(count)))

const sum = {
  ours: amount.describe('What the books say.'),
  theirs: amount.describe('What the vendor charges.'),
  difference: amount.describe('`theirs` less `ours`.'),
  causes: z.record(z.string(), amount).describe('The parts of the difference whose cause is known.'),
  unexplained: amount.describe('The rest of it.'),
}

const reconciliation = component(
  'Reconciliation',
  z.object({
    ...sum,
    unexplainedShare: z
      .number()
      .describe('Unexplained amounts of all days, without their signs, as a part of `theirs`.'),
    days: z.array(
      z.object({
        model: z.string().describe("The vendor's name of the model."),
        day: z.string().describe('In UTC.'),
        ...sum,
        ourCounts: counts,
        theirCounts: counts,
      }),
    ),
    findings: z.array(
      z.object({
        cause: z.string(),
        model: z.string(),
        at: time,
        ...counted(z.number()),
      }),
    ),
  }),
)

/** The routes of vendors' bills. */
export const reconcileRoutes: readonly Route[] = [
  forOperator('listReports', 'GET /reports', {
    summary: 'Lists the vendors whose bills can be read: those of the option `reports`.',
    list: z.object({ vendor: id }),
    answer: ({ admin }) => admin.reports().map((vendor) => ({ vendor })),
  }),
  forOperator('reconcile', 'POST /reconciliations', {
    summary: 'Compares what calls cost by the usage records with what a vendor charges, by model and day.',
    description:
      'Reads all records of the period and asks the vendor, which can take minutes. Nothing is stored or booked.',
    body: {
      vendor: id,
      from: time.describe('Inclusive, at midnight in UTC.'),
      to: time.describe('Exclusive, at midnight in UTC.'),
      rate: z
        .string()
        .max(40)
        .optional()
        .describe("Units of the gateway's currency for one of the report's. Default `1`."),
    },
    response: reconciliation,
    isLong: true,
    async answer({ admin, body }) {
      try {
        return await admin.reconcile(body)
      } catch (cause) {
        if (GatewayError.is(cause)) throw cause
        const message = `The bill of "${body.vendor}" could not be read. Look for the cause in the log of the server ("onError").`
        throw new GatewayError('service_unavailable', { message, cause, shouldRetry: false })
      }
    },
  }),
]
