/** Runway, Kling, MiniMax and Luma by OpenAI's client: what each receives, its states, its prices, and what it refuses. */
import { createHmac } from 'node:crypto'
import { klingVideo, lumaVideo, minimaxVideo, runwayVideo, type Provider } from 'modelhatch/providers'
import OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import { memoryLedger } from '../../../src/money/ledger/memory.ts'
import type { PriceOptions } from '../../../src/money/prices/price-options.ts'
import { ask, errorOf } from '../../endpoints/ask.ts'
import { hostedWith, vendorFor } from '../../hosted.ts'

interface FilmVendor {
  readonly make: (options: { readonly baseURL: string }) => Provider
  readonly seconds: number
  readonly size: string
  /** Submitted without and with a first frame. */
  readonly submitted: readonly [path: string, body: object]
  readonly framed: readonly [path: string, body: object]
  readonly accepted: object
  readonly checked: string
  readonly running: object
  readonly done: object
  readonly refused: object
  /** Of one video by the vendor's price list, in dollars. */
  readonly price: PriceOptions
  readonly cost: string
}

const png = 'data:image/png;base64,UE5H'
const web = 'https://a.example/1.png'
const film = 'https://cdn.example/1.mp4'
const kling = (data: object) => ({ code: 0, message: 'SUCCEED', data: { task_id: 'job1', ...data } })
const ok = { base_resp: { status_code: 0, status_msg: 'success' } }

const vendors: Readonly<Record<'Runway' | 'Kling' | 'MiniMax' | 'Luma', FilmVendor>> = {
  Runway: {
    make: (options) => runwayVideo({ ...options, apiKey: 'k' }),
    seconds: 10,
    size: '720x1280',
    submitted: ['/v1/text_to_video', { model: 'up', promptText: 'a hatch', duration: 10, ratio: '720:1280' }],
    framed: ['/v1/image_to_video', { promptImage: png }],
    accepted: { id: 'job1' },
    checked: '/v1/tasks/job1',
    running: { id: 'job1', status: 'RUNNING', progress: 0.25 },
    done: { id: 'job1', status: 'SUCCEEDED', output: [film] },
    refused: { id: 'job1', status: 'FAILED', failure: 'secret words', failureCode: 'SAFETY.INPUT.TEXT' },
    // gen4.5: 12 credits a second, of $0.01.
    price: { second: '0.12' },
    cost: '1.2',
  },
  Kling: {
    make: (options) => klingVideo({ ...options, accessKey: 'access', secretKey: 'secret' }),
    seconds: 5,
    size: '1920x1080',
    submitted: [
      '/v1/videos/text2video',
      { model_name: 'up', prompt: 'a hatch', duration: '5', mode: 'pro', aspect_ratio: '16:9' },
    ],
    framed: ['/v1/videos/image2video', { image: 'UE5H' }],
    accepted: kling({ task_status: 'submitted' }),
    checked: '/v1/videos/text2video/job1',
    running: kling({ task_status: 'processing' }),
    done: kling({ task_status: 'succeed', task_result: { videos: [{ id: 'v', url: film, duration: '5' }] } }),
    refused: kling({ task_status: 'failed', task_status_msg: 'risk control: sensitive secret words' }),
    // By credits of $0.14: 2 for 5 seconds in `std`, 3.5 in `pro`.
    price: { second: { '1280x720': '0.056', '1920x1080': '0.098' } },
    cost: '0.49',
  },
  MiniMax: {
    make: (options) => minimaxVideo({ ...options, apiKey: 'k' }),
    seconds: 6,
    size: '1366x768',
    submitted: ['/v1/video_generation', { model: 'up', prompt: 'a hatch', duration: 6, resolution: '768P' }],
    framed: ['/v1/video_generation', { first_frame_image: png }],
    accepted: { task_id: 'job1', ...ok },
    checked: '/v1/query/video_generation?task_id=job1',
    running: { task_id: 'job1', status: 'Processing', ...ok },
    done: { task_id: 'job1', status: 'Success', file_id: 'file/1', ...ok },
    refused: { task_id: 'job1', status: 'Fail', base_resp: { status_code: 1027, status_msg: 'secret words' } },
    // Hailuo at 768P: $0.28 for 6 seconds.
    price: { hour: '168' },
    cost: '0.28',
  },
  Luma: {
    make: (options) => lumaVideo({ ...options, apiKey: 'k' }),
    seconds: 9,
    size: '1280x720',
    submitted: [
      '/v1/generations',
      { model: 'up', prompt: 'a hatch', duration: '9s', resolution: '720p', aspect_ratio: '16:9' },
    ],
    framed: ['/v1/generations', { keyframes: { frame0: { type: 'image', url: web } } }],
    accepted: { id: 'job1', state: 'queued' },
    checked: '/v1/generations/job1',
    running: { id: 'job1', state: 'dreaming', assets: null },
    done: { id: 'job1', state: 'completed', assets: { video: film } },
    refused: { id: 'job1', state: 'failed', failure_reason: 'moderation: secret words' },
    // By the second.
    price: { second: '0.142' },
    cost: '1.278',
  },
}

async function world({ make, price, accepted }: FilmVendor, checks: readonly object[] = []) {
  const left = [...checks]
  const vendor = await vendorFor(({ method, url }, response) => {
    if (url.startsWith('/v1/film')) return void response.setHeader('content-type', 'video/mp4').end('FILM')
    const file = { file: { download_url: `${vendor.baseURL}/film.mp4` }, ...ok }
    const answer = method === 'POST' ? accepted : url.includes('/files/') ? file : left.shift()
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answer ?? {}))
  })
  let passed = 0
  const ledger = memoryLedger()
  await ledger.credit({ account: 'a', amount: 1_000_000_000n, reference: 'order' })
  const hosted = await hostedWith({
    models: { film: { provider: make({ baseURL: vendor.baseURL }), providerModel: 'up', price } },
    keys: { 'sk-test': { account: 'a' } },
    billing: { currency: 'USD' },
    storage: { ledger },
    clock: () => Date.now() + passed,
  })
  const client = new OpenAI({ baseURL: `${hosted.url}/v1`, apiKey: 'sk-test', maxRetries: 0 })
  const retrieve = (id: string) => {
    passed += 16_000
    return client.videos.retrieve(id)
  }
  return { ...hosted, vendor, client, retrieve, ledger }
}

describe.each(Object.entries(vendors))('%s', (name, vendorOf) => {
  const { seconds, size, submitted, framed, checked, running, done, refused, cost } = vendorOf
  const asked = { model: 'film', prompt: 'a hatch', seconds: String(seconds) as '4', size: size as '720x1280' }

  test('makes a video', async () => {
    const { client, vendor, retrieve, receipt, ledger } = await world(vendorOf, [running, done])
    const { id } = await client.videos.create(asked)
    expect([vendor.requests[0]?.url, vendor.requests[0]?.json]).toEqual(submitted)
    if (name === 'Runway') expect(vendor.requests[0]?.headers).toMatchObject({ 'x-runway-version': '2024-11-06' })
    expect(await ledger.account('a')).toMatchObject({ held: BigInt(Math.round(Number(cost) * 1_000_000)) })
    const progress = name === 'Runway' ? 25 : 0
    expect(await retrieve(id)).toMatchObject({ status: 'in_progress', progress })
    expect(await retrieve(id)).toMatchObject({ status: 'completed' })
    expect(vendor.requests.at(-1)?.url).toBe(checked)
    expect((await receipt()).charge?.cost).toBe(cost)
  })

  test('gets the first frame', async () => {
    const { url, vendor } = await world(vendorOf)
    const frame = name === 'Luma' ? web : png
    const answer = await ask(url, 'POST', '/videos', { ...asked, input_reference: { image_url: frame } })
    expect(answer.status).toBe(200)
    expect([vendor.requests[0]?.url, vendor.requests[0]?.json]).toMatchObject(framed)
  })

  test('says that it rejected a video, in words of the gateway, and charges nothing', async () => {
    const { client, retrieve, receipt } = await world(vendorOf, [refused])
    const { id } = await client.videos.create(asked)
    const video = await retrieve(id)
    expect(video).toMatchObject({ status: 'failed', error: { code: 'content_policy_violation' } })
    expect(JSON.stringify(video)).not.toContain('secret')
    expect((await receipt()).charge?.cost).toBe('0')
  })

  test('costs ten times its published price for ten videos', async () => {
    const { client, retrieve, receipts } = await world(
      vendorOf,
      Array.from({ length: 10 }, () => done),
    )
    for (let nth = 0; nth < 10; nth++) await retrieve((await client.videos.create(asked)).id)
    await expect.poll(() => receipts.length).toBe(10)
    expect(receipts.map(({ charge }) => charge?.cost)).toEqual(Array.from({ length: 10 }, () => cost))
  })

  test.each([
    { n: 2 },
    { unheard_of: 1 },
    { sound: 'on' },
    { audio: true },
    { size: '1000x300' },
    { resolution: '4k' },
  ])('%o does not reach it', async (fields) => {
    const { url, vendor } = await world(vendorOf)
    const answer = await ask(url, 'POST', '/videos', { ...asked, ...fields })
    expect([answer.status, errorOf(answer).param, vendor.requests]).toEqual([400, Object.keys(fields)[0], []])
  })
})

test('Kling gets a token that is signed with the secret key', async () => {
  const { client, vendor } = await world(vendors.Kling)
  await client.videos.create({ model: 'film', prompt: 'a hatch' })
  const [head, claims, signature] = String(vendor.requests[0]?.headers['authorization']).slice(7).split('.')
  expect(signature).toBe(createHmac('sha256', 'secret').update(`${head}.${claims}`).digest('base64url'))
  const { iss, exp, nbf } = JSON.parse(Buffer.from(String(claims), 'base64url').toString()) as Record<string, number>
  expect([iss, Number(exp) - Number(nbf)]).toEqual(['access', 1_805])
  expect(() => klingVideo({ accessKey: 'a' })).toThrow('secretKey')
})

test('a video of MiniMax is downloaded through the gateway', async () => {
  const { client, vendor, retrieve } = await world(vendors.MiniMax, [vendors.MiniMax.done])
  const { id } = await client.videos.create({ model: 'film', prompt: 'a hatch' })
  await retrieve(id)
  expect(await (await client.videos.downloadContent(id)).text()).toBe('FILM')
  const [asked, fetched] = vendor.requests.slice(-2)
  expect([asked?.url, fetched?.headers['authorization']]).toEqual(['/v1/files/retrieve?file_id=file%2F1', undefined])
})

test.each([
  [1026, 400],
  [1002, 429],
  [1008, 503],
])('an error of MiniMax with status 200, code %i, is a %i', async (code, status) => {
  const accepted = { task_id: '', base_resp: { status_code: code, status_msg: 'secret' } }
  const { client, ledger } = await world({ ...vendors.MiniMax, accepted })
  const failed = client.videos.create({ model: 'film', prompt: 'a hatch' })
  await expect(failed).rejects.toMatchObject({ status, message: expect.not.stringContaining('secret') as string })
  expect(await ledger.account('a')).toMatchObject({ held: 0n })
})

test('Luma, which fetches images, does not get their data', async () => {
  const { url, vendor } = await world(vendors.Luma)
  const answer = await ask(url, 'POST', '/videos', { model: 'film', prompt: 'x', input_reference: png })
  expect([answer.status, errorOf(answer).param, vendor.requests]).toEqual([400, 'input_reference', []])
})
