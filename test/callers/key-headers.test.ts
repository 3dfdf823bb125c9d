/** Where clients may send their key, and which one counts. */
import { expect, test } from 'vitest'
import { hostedWith } from '../hosted.ts'

const good = 'sk-test'

test.each<[Record<string, string>, number]>([
  [{ authorization: `Bearer ${good}` }, 200],
  [{ authorization: `bearer  ${good} ` }, 200],
  [{ 'x-api-key': good }, 200],
  [{ 'x-goog-api-key': good }, 200],
  [{ 'api-key': good }, 200],
  [{ 'x-litellm-api-key': good }, 200],
  [{ 'x-litellm-api-key': `Bearer ${good}` }, 200],
  // It counts before those that may carry a vendor's key, valid or not.
  [{ 'x-litellm-api-key': good, authorization: 'Bearer sk-other', 'x-api-key': 'sk-other' }, 200],
  [{ 'x-litellm-api-key': 'sk-other', authorization: `Bearer ${good}` }, 401],
  [{ 'x-litellm-api-key': '', authorization: `Bearer ${good}` }, 401],
  [{ 'api-key': good, 'x-api-key': 'sk-other' }, 200],
  // A bearer token counts before all others, valid or not.
  [{ authorization: `Bearer ${good}`, 'x-api-key': 'sk-other' }, 200],
  [{ authorization: 'Bearer sk-other', 'x-api-key': good }, 401],
  [{ authorization: 'Bearer two words', 'x-api-key': good }, 401],
  // A password for a proxy, and a client without a token, do not hide the key.
  [{ authorization: 'Basic YTpi', 'x-api-key': good }, 200],
  [{ authorization: 'Bearer', 'x-api-key': good }, 200],
  [{ authorization: 'Basic YTpi', 'x-api-key': 'sk-other' }, 401],
  [{ authorization: 'Basic YTpi' }, 401],
  [{ authorization: good }, 401],
  [{ 'x-api-key': '' }, 401],
  [{}, 401],
])('%o: %i', async (headers, status) => {
  const { url } = await hostedWith({ models: {} })
  expect((await fetch(`${url}/v1/models`, { headers })).status).toBe(status)
})
