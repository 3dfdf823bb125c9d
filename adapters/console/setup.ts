import { invalid } from '../../src/errors.ts'
import { jsonReply } from '../../src/http/answers.ts'
import { queryOf } from '../../src/http/target.ts'
import type { Exchange, Reply } from '../../src/index.ts'
import { agentClients, agentSetup } from '../agents/agents.ts'

/** A placeholder for the API key. The page inserts the key, which is never sent to the server. */
const placeholder = 'API_KEY_HERE'

/** What a developer pastes to set up each coding agent, for the `baseURL` and the `model`s in the query. */
export function setupReply({ target }: Exchange): Reply {
  const query = queryOf(target)
  const options = { baseURL: query.get('baseURL') ?? '', models: query.getAll('model'), apiKey: placeholder }
  try {
    const items = agentClients.map(({ client, name }) => {
      const { paste, command } = agentSetup({ client, ...options })
      return { name, paste, command }
    })
    const { status, headers, body } = jsonReply({ placeholder, items })
    return { status, headers: { ...headers, 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }, body }
  } catch (thrown) {
    if (thrown instanceof TypeError) throw invalid(thrown.message)
    throw thrown
  }
}
