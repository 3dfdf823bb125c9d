import { describe, expect, test } from 'vitest'
import { createGateway } from 'modelhatch'
import { demo } from 'modelhatch/providers'
import { hosted } from '../../hosted.ts'

const url = () => hosted(createGateway({ keys: { 'sk-test': {} }, models: { a: demo(), b: demo(), c: demo() } }))

interface Body {
  readonly data?: readonly { readonly id: string }[]
  readonly has_more?: boolean
  readonly error?: { readonly message: string; readonly param: string | null; readonly code: string }
}

async function get(base: string, path: string, method: string = 'GET'): Promise<Body & { status: number }> {
  const answer = await fetch(base + path, { method, headers: { authorization: 'Bearer sk-test' } })
  return { ...((await answer.json()) as Body), status: answer.status }
}

describe('the list of models', () => {
  test('is complete without paging parameters', async () => {
    const answer = await get(await url(), '/v1/models')
    expect(answer.data?.map(({ id }) => id)).toEqual(['a', 'b', 'c'])
    expect(Object.keys(answer).sort()).toEqual(['data', 'object', 'status'])
  })

  test('can be paged', async () => {
    const base = await url()
    const seen: string[] = []
    for (let after = '', more = true; more;) {
      const { data = [], has_more: further = false } = await get(base, `/v1/models?limit=2${after}`)
      expect(data.length).toBeLessThanOrEqual(2)
      seen.push(...data.map(({ id }) => id))
      after = `&after=${seen.at(-1)}`
      more = further
    }
    expect(seen).toEqual(['a', 'b', 'c'])
    expect((await get(base, '/v1/models?after=c')).data).toEqual([])
  })

  test.each([
    ['limit=0', 'limit'],
    ['limit=x', 'limit'],
    ['limit=1.5', 'limit'],
    ['limit=', 'limit'],
    ['after=nothing', 'after'],
  ])('%s is rejected with the name of the parameter', async (query, param) => {
    expect(await get(await url(), `/v1/models?${query}`)).toMatchObject({ status: 400, error: { param } })
  })
})

test.each([
  ['/v1/modles?api_key=secret', 'GET /v1/modles. Check the path'],
  ['//v1/models', 'GET //v1/models. Did you mean "/v1/models"?'],
  ['/V1/models', 'GET /V1/models. Did you mean "/v1/models"?'],
  ['/v1//models', 'GET /v1//models. Did you mean "/v1/models"?'],
])('the error for %s names the path', async (path, message) => {
  const answer = await get(await url(), path)
  expect(answer).toMatchObject({ status: 404, error: { code: 'unknown_url' } })
  expect(answer.error?.message).toContain(message)
  expect(answer.error?.message).not.toContain('secret')
})

test.each([
  ['POST', '/v1/videos/video_1/remix'],
  ['GET', '/v1/videos/video_1/content/more'],
  ['DELETE', '/v1/videos/generations/video_1/content'],
  ['POST', '/v1/responses/resp_1/unknown'],
  ['DELETE', '/v1/responses/resp_1/input_items/item_1'],
])('%s %s, below a path with an id, is unknown', async (method, path) => {
  const response = await fetch((await url()) + path, { method, headers: { authorization: 'Bearer sk-test' } })
  expect(response.status).toBe(404)
  expect(await response.json()).toMatchObject({ error: { code: 'unknown_url' } })
})

test('an error repeats at most 200 characters of a path', async () => {
  expect((await get(await url(), `/v1/${'x'.repeat(5_000)}`)).error?.message.length).toBeLessThan(300)
})
