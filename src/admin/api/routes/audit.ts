import * as z from 'zod'
import type { AuditHead } from '../../audit/audit-admin.ts'
import { auditFilter, id, page, time } from '../../questions.ts'
import { forOperator, type Route } from '../route.ts'

const entry = z.object({
  number: z.int().describe('1 for the first entry, and one more for each further one.'),
  at: time,
  action: z.string().describe('What was done, such as `keys.update`.'),
  account: id.optional(),
  actor: id.optional().describe('Who did it. Absent for the code of the host.'),
  address: z.string().optional().describe('The IP address that the request came from.'),
  target: z.string().optional().describe('What was changed, such as the id of a key.'),
  before: z.unknown().optional(),
  after: z.unknown().optional(),
  erased: z.boolean().optional().describe('Whether the details are gone, because the account was erased.'),
})

/** The routes of the audit log. */
export const auditRoutes: readonly Route[] = [
  forOperator('listAuditLog', 'GET /audit-log', {
    summary: 'Lists who changed what, newest first.',
    query: { ...auditFilter, ...page },
    page: entry,
    answer: ({ admin, query }) => admin.auditLog.list(query),
  }),
  forOperator('exportAuditLog', 'GET /audit-log.csv', {
    summary: 'Lists who changed what as CSV.',
    query: auditFilter,
    csv: ({ admin, query }) => admin.csv.auditLog(query),
  }),
  forOperator('verifyAuditLog', 'GET /audit-log/verification', {
    summary: 'Reads the whole log and checks that no entry was changed, removed or inserted.',
    query: {
      number: z.int().min(1).optional().describe('`head.number` of an earlier verification. Needs `hash`.'),
      hash: z.string().optional().describe('`head.hash` of it. Needs `number`.'),
    },
    response: z.object({
      isIntact: z.boolean(),
      entries: z.int(),
      fault: z.string().optional().describe('What is wrong first.'),
      head: z.object({ number: z.int(), hash: z.string() }).describe('The newest entry, to be kept elsewhere.'),
    }),
    answer: ({ admin, query }) =>
      admin.auditLog.verify(Object.keys(query).length === 0 ? {} : { head: query as AuditHead }),
  }),
]
