import * as z from 'zod'
import { auditFilter, id, page, time } from '../../questions.ts'
import { given, route, type Route } from '../route.ts'
import { pageOf } from '../schemas/values.ts'

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
  route({
    method: 'GET',
    path: '/audit-log',
    name: 'listAuditLog',
    summary: 'Lists who changed what, newest first.',
    role: 'admin',
    produces: 'json',
    query: z.strictObject({ ...auditFilter, ...page }),
    response: pageOf(entry),
    answer: ({ gateway, query }) => gateway.admin.auditLog.list(given(query)),
  }),
  route({
    method: 'GET',
    path: '/audit-log.csv',
    name: 'exportAuditLog',
    summary: 'Lists who changed what as CSV.',
    role: 'admin',
    produces: 'csv',
    query: z.strictObject(auditFilter),
    answer: ({ gateway, query }) => gateway.admin.csv.auditLog(given(query)),
  }),
  route({
    method: 'GET',
    path: '/audit-log/verification',
    name: 'verifyAuditLog',
    summary: 'Reads the whole log and checks that no entry was changed, removed or inserted.',
    role: 'admin',
    produces: 'json',
    query: z.strictObject({
      number: z.coerce.number().int().min(1).optional().describe('`head.number` of an earlier verification.'),
      hash: z.string().optional().describe('`head.hash` of it.'),
    }),
    response: z.object({
      isIntact: z.boolean(),
      entries: z.int(),
      fault: z.string().optional().describe('What is wrong first.'),
      head: z.object({ number: z.int(), hash: z.string() }).describe('The newest entry, to be kept elsewhere.'),
    }),
    answer: ({ gateway, query: { number, hash } }) =>
      gateway.admin.auditLog.verify(number !== undefined && hash !== undefined ? { head: { number, hash } } : {}),
  }),
]
