/** Every command of the readme and the guides that sends a request, as its reader types it, against `npm start`. */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { snippets } from '../documents.ts'
import { wav } from '../sound.ts'
import { runExample, type RunningExample } from './example.ts'

// The admin API is not part of `npm start`: the commands of its guide belong to the program above them.
const commands = snippets.filter(
  ({ language, code }) => language === 'sh' && code.includes('curl ') && !code.includes('$ADMIN_TOKEN'),
)
const folder = mkdtempSync(join(tmpdir(), 'modelhatch-'))
let example: RunningExample

beforeAll(async () => {
  example = await runExample('express')
  writeFileSync(join(folder, 'speech.wav'), wav({ seconds: 2 }))
})
afterAll(async () => {
  rmSync(folder, { recursive: true })
  expect(await example.stop()).toBe(0)
})

/** What the commands print; rejects when one of them fails, also with an HTTP status of 400 and above. */
async function typed(code: string): Promise<string> {
  // A video’s id is only known when there is a video: the first command makes it, the others read it from there.
  const made = code
    .replaceAll(/http:\/\/(?:localhost:3000\/ai|127\.0\.0\.1:3000)\/v1\b/g, example.baseURL)
    .replaceAll(/http:\/\/127\.0\.0\.1:3000\/v1beta/g, example.baseURL.replace(/v1$/, 'v1beta'))
    .replace(/^curl (.*\/videos\/generations \\\n[\s\S]*?)\n\n/m, 'first=$(curl $1)\necho "$first"\n\n')
    .replace('video_…', '"$(echo "$first" | sed \'s/.*"id":"\\([^"]*\\).*/\\1/\')"')
  const script = `set -euo pipefail\ncurl() { command curl --fail-with-body --silent --show-error "$@"; }\n${made}`
  const { stdout } = await promisify(execFile)('bash', ['-c', script], { cwd: folder, timeout: 60_000 })
  return stdout
}

test('there are commands for the endpoints', () => {
  const used = commands.flatMap(({ code }) => [...code.matchAll(/\/v1(\/[\w/]+)/g)].map(([, path]) => path))
  expect(new Set(used)).toEqual(
    new Set([
      '/audio/speech',
      '/audio/transcriptions',
      '/audio/translations',
      '/chat/completions',
      '/completions',
      '/conversations',
      '/conversations/',
      '/cost',
      '/decisions',
      '/embeddings',
      '/images/edits',
      '/images/generations',
      '/images/variations',
      '/messages',
      '/messages/count_tokens',
      '/moderations',
      '/rerank',
      '/responses',
      '/responses/',
      '/videos/generations',
      '/videos/generations/video_',
      '/videos/models',
    ]),
  )
})

const printed: Readonly<Record<string, RegExp>> = {
  'chat/completions': /"content":"Hello/,
  cost: /"held":"0"/,
  'responses/$made?stream=true&starting_after=2"': /^event: response\.(?!created)[^]*event: response\.completed/,
  conversations: /"conversation":\{"id":"(conv_\w+)"\}[^]*"input_text","text":"Be brief."[^]*"text":"1, 2, 3, 4, 5"/,
  responses: /event: response\.completed/,
  messages: /event: message_stop[^]*"input_tokens":\d+/,
  embeddings: /"object":"embedding"/,
  decisions: /"choice":"charged"/,
  moderations: /"violence":true/,
  'images/edits': /^$/,
  'images/variations': /^$/,
  rerank: /"results":\[\{"index":1,/,
  'audio/speech': /^$/,
  'audio/transcriptions': /^WEBVTT/,
  'audio/translations': /^1\n00:00:00,000 -->/,
  'v1beta/models/demo:generateContent': /"candidates"/,
  'videos/models': /"supported_durations":\[5,10,15,20\]/,
  'videos/generations': /"id":"(video_[\w-]+)"[\s\S]*"id":"\1"/,
}

test.each(commands.map(({ name, code }) => [name, code] as const))('%s', async (_, code) => {
  const said = await typed(code)
  const [, expected] = Object.entries(printed).find(([path]) => code.includes(`/${path} `)) ?? []
  expect(said).toMatch(expected ?? /impossible/)
  if (!code.includes('/images/')) return
  expect(readFileSync(join(folder, 'sun.png')).toString('latin1', 1, 4)).toBe('PNG')
  expect(readFileSync(join(folder, 'moon.json'), 'utf8')).toContain('"b64_json"')
})
