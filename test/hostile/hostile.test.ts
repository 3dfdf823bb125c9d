/**
 * Everything that is done to a gateway by those who mean it harm, in one run against one process. Each test prints one
 * figure and fails on an exit, a 5xx, an answer that does not come, a turn of the event loop that takes too long, a
 * secret, a byte of somebody else's, more spent than there was, or an answer that was not paid.
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
import { leave, leaveEarly, spend } from './money.ts'
import { sendMutants } from './mutants.ts'
import { killAll } from './kills.ts'
import { measured } from './measured.ts'
import { hostNames } from './places.ts'
import { size, tell } from './size.ts'
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
  tell(`${sent} mutants: ${answers}`)
  expect(attacked.faults).toEqual([])
})

test('small requests that ask for much', { timeout }, async () => {
  let longest = 0
  for (const { name, path, contentType, body } of directed) {
    const attack = () => send(attacked, { host: hostNames[0], path, contentType, body })
    const result = await measured(attacked, name, attack)
    longest = Math.max(longest, result?.longest ?? 0)
    const fault = result && faultIn(result.answer)
    if (fault !== undefined) attacked.faults.push(`${name}: ${fault}`)
  }
  tell(`${directed.length} small requests that ask for much: longest turn ${longest.toFixed(0)} ms of CPU`)
  expect(attacked.faults).toEqual([])
})

test.skipIf(size.worstOneIn === 0)('the worst bodies of every endpoint', { timeout }, async () => {
  const { sent, longest } = await sendWorst(attacked, size.worstOneIn, size.worstMs)
  tell(`${sent} of the worst bodies: longest turn ${longest.toFixed(0)} ms of CPU`)
  expect(attacked.faults).toEqual([])
})

test('vendors whose answers are built to hurt', { timeout }, async () => {
  const { asked, longest } = await meetHostileVendors(attacked, hostile)
  tell(`${asked} answers of hostile vendors: longest turn ${longest.toFixed(0)} ms of CPU`)
  expect(attacked.faults).toEqual([])
})

test('fields by which a client would choose what the host pays', { timeout }, async () => {
  for (const { model, path, fields } of costlyFields) {
    const before = recording.requests.length
    const { status } = await send(attacked, { host: 'Express 5', path, body: JSON.stringify({ model, ...fields }) })
    const name = Object.keys(fields).at(-1) as string
    const passed = recording.requests.slice(before).some(({ json }) => name in Object(json))
    if (status !== 400 || passed)
      attacked.faults.push(`${model} ${name}: ${status}${passed ? ', and the vendor got it' : ''}`)
  }
  tell(`${costlyFields.length} fields that cost: none reached a vendor`)
  expect(attacked.faults).toEqual([])
})

test('spenders of more than there is', { timeout }, async () => {
  const { spent, calls } = await spend(attacked, size.spenders)
  tell(`${size.spenders} spenders: ${calls} answers for ${spent} of 1000000 micro-units`)
  expect(attacked.faults).toEqual([])
})

test('clients that leave in the middle of an answer', { timeout }, async () => {
  tell(`${await leave(attacked)} clients that left: each has paid for what it got`)
  expect(attacked.faults).toEqual([])
})

test('clients that leave before the first word', { timeout }, async () => {
  await leaveEarly(attacked)
  tell('clients that left before the first word: each has paid for its question')
  expect(attacked.faults).toEqual([])
})

test('tenants that try to get at what others have', { timeout }, async () => {
  tell(`${await trespass(attacked)} tries at what another tenant has: none was answered`)
  expect(attacked.faults).toEqual([])
})

test.skipIf(size.kills === 0 || !hasPostgres)('kill -9 at any moment', { timeout }, async () => {
  const { kills, videos } = size
  const { lost, twice } = await killAll(kills, videos)
  tell(`${kills} kills under ${videos} videos: ${lost} lost, ${twice} made twice`)
  expect({ lost, twice }).toEqual({ lost: 0, twice: 0 })
})
