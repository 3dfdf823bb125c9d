/** Runs a real coding agent on a folder with one file, against a gateway of the test. */
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { createGateway, type GatewayOptions, type Receipt } from 'modelhatch'
import { agentSetup, type AgentClient, type AgentSetupOptions } from 'modelhatch/agents'
import { mount } from 'modelhatch/node'
import { upgrades, type UpgradeOptions } from 'modelhatch/ws'
import { outside } from './outside.ts'
import { folder as programs, program } from './programs.ts'

export const key = 'sk-agent'

/** Turns off what the programs send to their makers. */
const quiet = {
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_AUTOUPDATER: '1',
  DISABLE_TELEMETRY: '1',
  DISABLE_ERROR_REPORTING: '1',
  DISABLE_BUG_COMMAND: '1',
  COPILOT_OFFLINE: 'true',
  // What its installation has unpacked there takes half a minute each time.
  COPILOT_CACHE_HOME: join(homedir(), '.cache', 'copilot'),
  GEMINI_CLI_TRUST_WORKSPACE: 'true',
  OPENCODE_DISABLE_AUTOUPDATE: '1',
  OPENCODE_DISABLE_MODELS_FETCH: '1',
  OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
}

/** The same for Codex, in the configuration of the person. That of the setup is laid over it. */
const quietCodex = `check_for_update_on_startup = false
[analytics]
enabled = false
[features]
plugins = false
apps = false
`

/** The package of plugins that opencode otherwise asks the registry for. */
const plugins = { dependencies: { '@opencode-ai/plugin': '*' } }

/** The same for Gemini CLI. */
const quietGemini = {
  general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
  privacy: { usageStatisticsEnabled: false },
}

/** The same for Qwen Code. */
const quietQwen = {
  general: { enableAutoUpdate: false },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
}

export interface Served {
  readonly baseURL: string
  readonly receipts: readonly Receipt[]
  /** Requests and upgrades, such as `POST /ai/v1/responses` or `upgrade /ai/v1/responses`. */
  readonly targets: readonly string[]
  /** The calls over a WebSocket. `continues`: whether they send only what is new. */
  readonly calls: readonly { readonly prewarm: boolean; readonly continues: boolean }[]
}

interface Call {
  readonly previous_response_id?: unknown
}

/** Serves a gateway below `/ai`. `webSockets`: whether, or how, it serves those too. */
export async function served(options: GatewayOptions, webSockets: boolean | UpgradeOptions): Promise<Served> {
  const receipts: Receipt[] = []
  const targets: string[] = []
  const receipt = (each: Receipt) => void receipts.push(each)
  const gateway = createGateway({ keys: { [key]: {} }, ...options, hooks: { receipt } })
  const calls: Served['calls'][number][] = []
  const handle = gateway.handle.bind(gateway)
  gateway.handle = (exchange) => {
    const { connection, body } = exchange
    if (connection !== undefined && body.state === 'text') {
      const { previous_response_id: previous } = JSON.parse(Buffer.from(body.text).toString('utf8')) as Call
      calls.push({ prewarm: connection.prewarm, continues: typeof previous === 'string' })
    }
    return handle(exchange)
  }
  const serve = mount(gateway)
  const server = createServer((request, response) => {
    const { url = '' } = request
    targets.push(`${request.method} ${url}`)
    if (!url.startsWith('/ai')) return void response.writeHead(404).end()
    request.url = url.slice('/ai'.length) || '/'
    if (request.method === 'HEAD') return void response.end()
    serve(request, response)
  })
  if (webSockets !== false) {
    server.on('upgrade', (request) => void targets.push(`upgrade ${request.url}`))
    server.on('upgrade', upgrades('/ai', gateway, webSockets === true ? {} : webSockets))
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await Promise.all([gateway.close({ graceMs: 0 }), new Promise((resolve) => server.close(resolve))])
  })
  return { baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/ai`, receipts, targets, calls }
}

export interface Ran {
  readonly code: number
  readonly output: string
  /** What the program has said on the error stream. */
  readonly errors: string
  /** The content of the file afterwards. */
  readonly file: string
  /** The hosts other than loopback that the program has asked for. */
  readonly hosts: readonly string[]
}

export interface Task {
  readonly client: AgentClient
  readonly baseURL: string
  readonly models: AgentSetupOptions['models']
  readonly webSockets?: boolean
  /** Changes the configuration file of the setup. */
  readonly edit?: (config: string) => string
  /** The arguments after those of the setup; given the path of the file. */
  readonly words: (file: string) => readonly string[]
}

/** The file of a new folder, and the home of the person who runs the agent. */
export function workplace(): { readonly folder: string; readonly home: string; readonly file: string } {
  // Not in the folder for temporary files: Gemini CLI reads no settings below a folder that others may write to.
  const folder = mkdtempSync(`${programs}-person-`)
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const [work, home] = [join(folder, 'work'), join(folder, 'home')]
  mkdirSync(work)
  for (const [path, text] of Object.entries({
    '.codex/config.toml': quietCodex,
    '.config/opencode/package.json': JSON.stringify(plugins),
    '.config/opencode/package-lock.json': JSON.stringify({ lockfileVersion: 3, packages: { '': plugins } }),
    '.config/opencode/node_modules/.keep': '',
    '.gemini/settings.json': JSON.stringify(quietGemini),
    '.qwen/settings.json': JSON.stringify(quietQwen),
  })) {
    mkdirSync(dirname(join(home, path)), { recursive: true })
    writeFileSync(join(home, path), text)
  }
  const file = join(work, 'note.txt')
  writeFileSync(file, 'an old word\n')
  return { folder: work, home, file }
}

/** Sets the agent up as `agentSetup` says, runs it, and reads the file. */
export async function runAgent(task: Task, { folder, home, file }: ReturnType<typeof workplace>): Promise<Ran> {
  const { client, baseURL, models, webSockets = false, edit = (text: string) => text, words } = task
  const { environment, file: config, command } = agentSetup({ client, baseURL, models, apiKey: key, webSockets })
  if (config !== undefined) {
    mkdirSync(dirname(join(home, config.path)), { recursive: true })
    writeFileSync(join(home, config.path), edit(config.text))
  }
  const proxy = await outside()
  const [name, ...given] = command.split(' ') as [Parameters<typeof program>[0], ...string[]]
  const env = {
    PATH: process.env['PATH'],
    HOME: home,
    LANG: 'C.UTF-8',
    ...quiet,
    HTTP_PROXY: proxy.url,
    HTTPS_PROXY: proxy.url,
    ALL_PROXY: proxy.url,
    NO_PROXY: '127.0.0.1',
    // As the shell replaces it in the paste.
    ...Object.fromEntries(
      Object.entries(environment).map(([name, value]) => [name, value.replace(/^~\//, `${home}/`)]),
    ),
  }
  const result = await new Promise<Pick<Ran, 'code' | 'output' | 'errors'>>((resolve) => {
    const options = { cwd: folder, env, timeout: 240_000, killSignal: 'SIGKILL' as const }
    const child = execFile(program(name), [...given, ...words(file)], options, (error, output, errors) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), output, errors })
    })
    child.stdin?.end()
  })
  return { ...result, file: readFileSync(file, 'utf8'), hosts: proxy.hosts }
}
