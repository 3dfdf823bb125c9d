import { createGateway, type GatewayError } from '../../src/index.ts'
import { load, type Place } from './load.ts'
import { keyVariables, type Environment } from './environment.ts'

/** One thing that was checked. */
export interface Finding {
  /** `warn`: probably wrong. */
  readonly level: 'ok' | 'warn' | 'fail'
  readonly text: string
}

/** Checks the configuration, the options, the stores and the vendors, in this order, until one that the others need fails. */
export async function* doctor(place: Place): AsyncGenerator<Finding> {
  const { environment } = place
  const loaded = await load(place).catch((error: Error) => error)
  if (loaded instanceof Error) return yield bad(loaded.message)
  const { options, file, close } = loaded
  yield good(file === undefined ? 'no modelhatch.config.ts: the environment decides' : file)
  if (file === undefined && !keyVariables.some((name) => environment[name])) {
    yield bad(`no vendor's key is set, so only the demo models are served. Set one of ${keyVariables.join(', ')}.`)
  }
  const gateway = await attempt(async () => createGateway(options))
  if (gateway instanceof Error) {
    await close()
    return yield bad(gateway.message)
  }
  yield good('the options are valid')
  for (const { where, message } of gateway.warnings()) yield { level: 'warn', text: `${where} ${message}` }
  try {
    const stores = await attempt(() => gateway.ready())
    yield stores instanceof Error ? bad(reasonOf(stores)) : good('every store works')
    if (stores instanceof Error) return
    const vendors = await attempt(() => gateway.ready({ vendors: true }))
    yield vendors instanceof Error
      ? bad(reasonOf(vendors) + proxyHint(environment))
      : good('every vendor lists its models')
  } finally {
    await gateway.close({ graceMs: 0 })
    await close()
  }
}

function proxyHint({ HTTPS_PROXY, https_proxy = HTTPS_PROXY }: Environment): string {
  return https_proxy ? '. HTTPS_PROXY is set, but vendors are contacted directly.' : ''
}

const good = (text: string): Finding => ({ level: 'ok', text })
const bad = (text: string): Finding => ({ level: 'fail', text })

async function attempt<T>(work: () => Promise<T>): Promise<T | Error> {
  try {
    return await work()
  } catch (error) {
    return error as Error
  }
}

function reasonOf(error: Error): string {
  const { message, cause } = error as GatewayError
  return `${message.replace(' See the cause.', '')} ${cause instanceof Error ? cause.message : String(cause)}`
}
