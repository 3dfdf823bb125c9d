import * as z from 'zod'
import { mapPage } from '../../../records/page.ts'
import { id, page, text, time } from '../../questions.ts'
import { forContent, type Route } from '../route.ts'
import { ofRequest } from '../schemas/usage.ts'
import { present, seenBy } from '../scope.ts'

const value = z.unknown().optional()

const content = z.object({
  id: z.string(),
  at: time,
  ...ofRequest('endpoint', 'model', 'provider', 'providerModel'),
  account: id,
  ...ofRequest('group', 'key', 'user', 'session', 'stream'),
  outcome: z.string(),
  code: z.string().optional(),
  isWhole: z.boolean().describe('Whether the client got the whole answer.'),
  request: z.object({
    conversation: value.describe('The conversation, whichever wire format it came in.'),
    body: value.describe('The fields of a request that is no conversation.'),
  }),
  answer: z.object({
    answer: value.describe('What the model says.'),
    body: value.describe('An answer that is none of a conversation.'),
  }),
  media: z
    .array(z.object({ reference: z.string(), type: z.string(), bytes: z.number() }))
    .describe('What is kept by its hash: where it was, there is its `reference`.'),
})

/** The routes of what was asked and answered. */
export const contentRoutes: readonly Route[] = [
  forContent('getContent', 'GET /requests/{request}/content', {
    summary: 'Returns what was asked and answered in a request.',
    response: content,
    answer: async ({ admin, id: request, scope, identity }) =>
      seenBy(identity, present(await admin.content.get(request, scope), 'content')),
  }),
  {
    ...forContent('replayContent', 'POST /requests/{request}/replay', {
      summary: 'Asks another model what was asked in a request, and returns both answers. Nothing is charged.',
      body: { model: text },
      response: z.object({
        content,
        replay: z.object({ id: z.string(), model: z.string(), ms: z.number(), answer: z.unknown() }),
      }),
      async answer({ admin, id: request, body, scope, identity }) {
        const { content: first, replay } = await admin.content.replay(request, body, scope)
        return { content: seenBy(identity, first), replay }
      },
    }),
    role: 'admin',
  },
  forContent('listContent', 'GET /accounts/{account}/content', {
    summary: 'Returns what was asked and answered in a session, oldest first.',
    query: { session: text, ...page },
    page: content,
    async answer({ admin, account, query: { session, ...rest }, identity }) {
      const found = await admin.content.thread(account, session, rest)
      return mapPage(found, (each) => seenBy(identity, each))
    },
  }),
]
