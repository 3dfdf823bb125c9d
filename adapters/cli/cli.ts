#!/usr/bin/env node
/** `npx modelhatch`: a gateway without writing code. The only part of the package that prints and handles signals. */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { version } from '../../src/http/version.ts'
import { hosts, init } from './init.ts'

const help = `modelhatch ${version}

  modelhatch                   serves the models of modelhatch.config.ts, or of the vendors whose key is in the
                               environment (OPENAI_API_KEY, ANTHROPIC_API_KEY, ...), or the demo models
  modelhatch init [folder]     writes a project for --host ${Object.keys(hosts).join(', ')} (default: express)
  modelhatch doctor            checks the configuration, the stores and the vendors
  modelhatch reconcile         compares the books with the bill of --vendor NAME, --from and --to YYYY-MM-DD, read with
                               NAME_ADMIN_KEY or from --csv FILE; ends with 1 if more than --tolerance is unexplained

  --config FILE                the configuration file
  --port N, --address A        where to listen (default: PORT and HOST, else 3000 and 127.0.0.1)
  --host NAME                  with init: the server

Environment, and a file .env: DATABASE_URL (postgres:, mysql:, redis:, sqlite:), MODELHATCH_KEY, PORT, HOST.
`

const print = (text: string) => void process.stdout.write(`${text}\n`)

/** Runs one command, and returns its exit code; undefined while it serves. */
async function run(): Promise<number | undefined> {
  const string = { type: 'string' } as const
  const flag = { type: 'boolean' } as const
  const reconciling = { vendor: string, from: string, to: string, csv: string, tolerance: string }
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { config: string, port: string, address: string, host: string, help: flag, version: flag, ...reconciling },
  })
  const [command = 'serve', folder = '.'] = positionals
  const isKnown = ['serve', 'init', 'doctor', 'reconcile'].includes(command)
  if (values.version || values.help || !isKnown) {
    print(values.version ? version : help)
    return isKnown ? 0 : 1
  }
  if (command === 'init') {
    for (const path of init(resolve(folder), values.host ?? 'express', version)) print(`wrote ${path}`)
    print(`\nNext:${folder === '.' ? '' : ` cd ${folder} &&`} npm install && npm start`)
    return 0
  }
  const here = process.cwd()
  if (existsSync(join(here, '.env'))) process.loadEnvFile(join(here, '.env'))
  const environment = {
    ...process.env,
    ...(values.port && { PORT: values.port }),
    ...(values.address && { HOST: values.address }),
  }
  const place = { folder: here, environment, file: values.config }
  if (command === 'reconcile') {
    const { reconcile } = await import('./reconcile.ts')
    const { lines, code } = await reconcile(place, values)
    for (const line of lines) print(line)
    return code
  }
  return command === 'doctor' ? diagnose(place) : start(place)
}

type Place = Parameters<typeof import('./load.ts').load>[0]

const labels = { ok: 'ok   ', warn: 'warn ', fail: 'FAIL ' } as const

async function diagnose(place: Place): Promise<number> {
  const { doctor } = await import('./doctor.ts')
  let code = 0
  for await (const { level, text } of doctor(place)) {
    print(`${labels[level]} ${text}`)
    if (level === 'fail') code = 1
  }
  return code
}

async function start(place: Place): Promise<undefined> {
  const [{ load }, { serve }] = await Promise.all([import('./load.ts'), import('./serve.ts')])
  const running = await serve(await load(place))
  print(running.welcome)
  const stop = () => void running.stop().then(() => process.exit(0))
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop)
}

try {
  process.exitCode = await run()
} catch (error) {
  const { message, cause } = error as Error
  process.stderr.write(`${message}${cause instanceof Error ? ` ${cause.message}` : ''}\n`)
  process.exit(1)
}
