import { expect, test } from 'vitest'
import { runExample } from './example.ts'

test('an endpoint of the host answers, and names the field of a request that is wrong', async () => {
  const example = await runExample('summaries')
  const post = (body: object) =>
    fetch(`${example.baseURL}/summaries`, {
      method: 'POST',
      headers: { authorization: 'Bearer sk-demo', 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const answer = await post({ model: 'demo', documents: ['Two cats.', 'A dog.'] })
  expect([answer.status, await answer.json()]).toEqual([200, { object: 'summary', summary: expect.any(String) }])
  const wrong = await post({ model: 'demo', documents: ['Two cats.', 7] })
  expect([wrong.status, await wrong.json()]).toMatchObject([400, { error: { param: 'documents[1]' } }])
  expect(await example.stop()).toBe(0)
})
