/** One account's attempts to access what another account has created. */
import { faultIn, markOf, send, type Answer } from './asking.ts'
import type { Attacked } from './attacked.ts'
import { hostNames, type HostName } from './places.ts'

const own = markOf(1)

export async function trespass(attacked: Attacked): Promise<number> {
  let tries = 0
  for (const host of hostNames) {
    const made = (path: string, fields: object, headers = {}) =>
      send(attacked, { host, path, body: JSON.stringify(fields), headers, account: 'a' })
    const response = idIn(await made('/v1/responses', { model: 'echo', input: own }))
    const video = idIn(await made('/v1/videos', { model: 'demo', prompt: own, seconds: '5' }))
    const task = idIn(await made('/v1/videos/generations', { model: 'demo', prompt: own, duration: 5 }))
    const again = { 'idempotency-key': `k-${host}` }
    const fields = { model: 'echo', messages: [{ role: 'user', content: own }] }
    await made('/v1/chat/completions', fields, again)

    const targets = [
      ...[response].flatMap((id) => [`/v1/responses/${id}`, `/v1/responses/${id}/input_items`]),
      ...[video, task].flatMap((id) => [
        `/v1/videos/${id}`,
        `/v1/videos/${id}/content`,
        `/v1/videos/generations/${id}`,
      ]),
    ]
    for (const target of targets) {
      for (const path of disguises(target)) {
        for (const method of ['GET', 'DELETE']) {
          tries++
          const answer = await send(attacked, { host, method, path, account: 'b' })
          judge(attacked, `${host}: ${method} ${path}`, answer, answer.status === 404 || answer.status === 405)
        }
      }
    }
    const continued = { model: 'echo', input: 'What did I say?', previous_response_id: response }
    const answers = await Promise.all([
      send(attacked, { host, path: '/v1/responses', body: JSON.stringify(continued), account: 'b' }),
      send(attacked, {
        host,
        path: '/v1/responses',
        body: JSON.stringify({ model: 'echo', input: [{ type: 'item_reference', id: response }] }),
        account: 'b',
      }),
      send(attacked, { host, method: 'GET', path: '/v1/videos', account: 'b' }),
      send(attacked, {
        host,
        path: '/v1/chat/completions',
        body: JSON.stringify({ ...fields, messages: [{ role: 'user', content: 'mine' }] }),
        headers: again,
        account: 'b',
      }),
    ])
    tries += answers.length
    answers.forEach((answer, index) => judge(attacked, `${host}: try ${index}`, answer, true))
    await stillThere(attacked, host, `/v1/responses/${response}`)
    await stillThere(attacked, host, `/v1/videos/${video}`)
  }
  return tries
}

function disguises(target: string): string[] {
  return [target, `${target}?account=a`, `${target}/`, target.replace('/v1/', '/v1//'), target.replace(/_/, '%5f')]
}

function judge(attacked: Attacked, what: string, answer: Answer, good: boolean): void {
  const fault = faultIn(answer, '') ?? (good ? undefined : `status ${answer.status}`)
  if (fault !== undefined) attacked.faults.push(`${what}: ${fault}`)
}

async function stillThere(attacked: Attacked, host: HostName, path: string): Promise<void> {
  const { status } = await send(attacked, { host, method: 'GET', path, account: 'a' })
  if (status !== 200) attacked.faults.push(`${host}: ${path} is missing for its owner: ${status}`)
}

function idIn({ status, text }: Answer): string {
  const { id, task_id: task } = JSON.parse(text) as { id?: string; task_id?: string }
  const found = id ?? task
  if (status >= 300 || found === undefined) throw new Error(`could not create the object: ${text}`)
  return found
}
