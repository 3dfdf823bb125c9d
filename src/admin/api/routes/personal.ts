import * as z from 'zod'
import { invalid } from '../../../errors.ts'
import type { PersonalItem } from '../../personal.ts'
import { forOperator, type Route } from '../route.ts'
import { user } from '../../../callers/key-rules.ts'
import { id, time } from '../../questions.ts'
import { money } from '../schemas/values.ts'

const erased = z.object({
  keys: z.number().optional().describe('Number of keys that were revoked. Absent for a user.'),
  usageAs: z.string().optional().describe('The account under which the usage is kept.'),
  balance: money.optional(),
  left: z
    .array(z.object({ kind: z.string(), until: time.optional() }))
    .optional()
    .describe('What is left until it expires, because a store cannot delete it.'),
})

/** The routes of personal data. */
export const personalRoutes: readonly Route[] = [
  {
    ...forOperator('exportAccount', 'GET /accounts/{account}/export', {
      summary: 'Returns everything that is stored about an account, one JSON object a line.',
      description: 'What was asked and answered is only for identities with `content`.',
      jsonl: ({ admin, account, identity }) => lines(admin.export(account, { content: identity.content === true })),
    }),
    isNoted: true,
  },
  forOperator('eraseAccount', 'POST /accounts/{account}/erase', {
    summary: 'Revokes all keys of an account, or of one of its users, and removes what refers to a person.',
    body: {
      confirm: id.describe('The id of the account once more.'),
      user: user.optional().describe('Only this user of the account.'),
    },
    response: erased,
    async answer({ admin, account, body: { confirm, user } }) {
      if (confirm !== account) throw invalid('"confirm" must be the id of the account.', 'confirm')
      if (user === undefined) return admin.erase(account)
      await admin.eraseUser(account, user)
      return {}
    },
  }),
]

/** Characters from which on lines are written, so that a short one is no write of its own. */
const pieceLength = 65_536

async function* lines(items: AsyncIterable<PersonalItem>): AsyncGenerator<string, void> {
  let piece = ''
  for await (const item of items) {
    piece += `${JSON.stringify(item)}\n`
    if (piece.length < pieceLength) continue
    yield piece
    piece = ''
  }
  if (piece !== '') yield piece
}
