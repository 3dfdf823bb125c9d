/**
 * All attacks on a gateway in one run against one process. Each test reports one result. It fails on an exit, a 5xx, a
 * missing response, a turn of the event loop that is too long, a leaked secret, data of another request, an overdrawn
 * balance, or an unpaid response.
 */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { canary } from '../providers/faults/canary.ts'
import { defaultVendor } from '../adapters/hosts/gateway.ts'
import { scriptedVendor, type ScriptedVendor } from 'modelhatch/testing'
import { hasPostgres } from '../servers.ts'
import { Attacked } from './attacked.ts'
import { faultIn, send } from './asking.ts'
import { directed } from './directed.ts'
import { costlyFields } from './costly-fields.ts'
import { goodVendor, type GoodVendor } from './good-vendor.ts'
import { disconnectEarly, disconnectMidway, spend } from './money.ts'
import { sendMutants } from './mutants.ts'
import { killAll } from './kills.ts'
import { measured } from './measured.ts'
import { hostNames } from './places.ts'
import { size, report } from './size.ts'
import { trespass } from './tenants.ts'
import { meetHostileVendors } from './vendors.ts'
import { sendWorst } from './worst.ts'

const timeout = size.mutantMs + size.worstMs + 300_000

let good: GoodVendor
let recording: ScriptedVendor
let hostile: ScriptedVendor
let attacked: Attacked

beforeAll(async () => {
  good = await goodVendor(canary.vendorKey)
  recording = await scriptedVendor((request, response) => {
    if (request.json !== undefined) return defaultVendor(request, response)
    response.writeHead(404).end()
  })
  hostile = await scriptedVendor(defaultVendor)
  const places = {
    good: good.baseURL,
    hostile: hostile.baseURL,
    recording: recording.baseURL,
    vendorKey: canary.vendorKey,
  }
  attacked = await Attacked.start(places)
}, 60_000)

afterAll(async () => {
  await attacked.end()
  await Promise.all([good, recording, hostile].map((each) => each.close()))
})

afterEach(() => {
  attacked.faults.length = 0
})

test('mutants of valid requests to every endpoint, over HTTP and over sockets', { timeout }, async () => {
  const { sent, answers } = await sendMutants(attacked, size.mutants, size.mutantMs)
  report(`${sent} mutants: ${answers}`)
  expect(attacked.faults).toEqual([])
  expect(good.selecting).toEqual([])
})

test('small requests with a high cost', { timeout }, async () => {
  let longest = 0
  for (const { name, path, contentType, body } of directed) {
    const attack = () => send(attacked, { host: hostNames[0], path, contentType, body })
    const result = await measured(attacked, name, attack)
    longest = Math.max(longest, result?.longest ?? 0)
    const fault = result && faultIn(result.answer)
    if (fault !== undefined) attacked.faults.push(`${name}: ${fault}`)
  }
  report(`${directed.length} small requests with a high cost: longest turn ${longest.toFixed(0)} ms of CPU`)
  expect(attacked.faults).toEqual([])
})

test.skipIf(size.worstOneIn === 0)('the worst bodies of every endpoint', { timeout }, async () => {
  const { sent, longest } = await sendWorst(attacked, size.worstOneIn, size.worstMs)
  report(`${sent} of the worst bodies: longest turn ${longest.toFixed(0)} ms of CPU`)
  expect(attacked.faults).toEqual([])
})

test('vendors with hostile responses', { timeout }, async () => {
  const { asked, longest } = await meetHostileVendors(attacked, hostile)
  report(`${asked} answers of hostile vendors: longest turn ${longest.toFixed(0)} ms of CPU`)
  expect(attacked.faults).toEqual([])
})

test('fields with which a client would increase the host’s cost', { timeout }, async () => {
  for (const { model, path, fields } of costlyFields) {
    const before = recording.requests.length
    const { status } = await send(attacked, { host: 'Express 5', path, body: JSON.stringify({ model, ...fields }) })
    const name = Object.keys(fields).at(-1) as string
    const passed = recording.requests.slice(before).some(({ json }) => name in Object(json))
    if (status !== 400 || passed)
      attacked.faults.push(`${model} ${name}: ${status}${passed ? ', and the vendor got it' : ''}`)
  }
  report(`${costlyFields.length} fields that cost: none reached a vendor`)
  expect(attacked.faults).toEqual([])
})

test('clients that spend more than their balance', { timeout }, async () => {
  const { spent, calls } = await spend(attacked, size.spenders)
  report(`${size.spenders} spenders: ${calls} answers for ${spent} of 1000000 micro-units`)
  expect(attacked.faults).toEqual([])
})

test('clients that disconnect in the middle of a stream', { timeout }, async () => {
  report(`${await disconnectMidway(attacked)} clients that disconnected: each has paid for what it received`)
  expect(attacked.faults).toEqual([])
})

test('clients that disconnect before the first content', { timeout }, async () => {
  await disconnectEarly(attacked)
  report('clients that disconnected before the first content: each has paid for its prompt')
  expect(attacked.faults).toEqual([])
})

test('accounts that try to access what others have created', { timeout }, async () => {
  report(`${await trespass(attacked)} attempts to access what another account has: none succeeded`)
  expect(attacked.faults).toEqual([])
})

test.skipIf(size.kills === 0 || !hasPostgres)('kill -9 at any moment', { timeout }, async () => {
  const { kills, videos } = size
  const { lost, twice } = await killAll(kills, videos)
  report(`${kills} kills under ${videos} videos: ${lost} lost, ${twice} made twice`)
  expect({ lost, twice }).toEqual({ lost: 0, twice: 0 })
})
