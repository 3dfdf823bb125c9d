import { mistake } from '../../src/records/rules.ts'

/** A model that an agent offers. */
export interface AgentModel {
  /** The name at the gateway. */
  readonly id: string
  /** The name for people. Default: `id`. */
  readonly displayName?: string
  /** Tokens of its context window. */
  readonly contextWindow?: number
  /** Tokens of its longest output. */
  readonly maxOutputTokens?: number
}

/** Options of `agentSetup`. */
export interface AgentSetupOptions {
  /** The URL that the gateway is mounted at, such as `https://example.com/ai`, with or without `/v1`. */
  readonly baseURL: string
  /** The models of the person's group that can chat, names or objects. Agents begin with the first one. */
  readonly models: readonly (string | AgentModel)[]
  /** The person's API key. Default: a text that asks for it. */
  readonly apiKey?: string
  /** What the gateway is called in the agent: letters, digits and hyphens. Default `modelhatch`. */
  readonly name?: string
  /** Whether the server has the `upgrade` listener of `modelhatch/ws`, which Codex then uses. Default false. */
  readonly webSockets?: boolean
}

/** The options with their defaults. */
export interface Parts {
  /** Without `/v1` and without a slash at the end. */
  readonly baseURL: string
  readonly models: readonly [AgentModel, ...AgentModel[]]
  readonly apiKey: string
  readonly name: string
  readonly webSockets: boolean
}

/** The environment variable with the API key of a gateway. */
export function keyVariable(name: string): string {
  return `${name.toUpperCase().replaceAll('-', '_')}_API_KEY`
}

const known = ['baseURL', 'models', 'apiKey', 'name', 'webSockets']

/** Throws a `TypeError` that names an invalid option. */
export function placed(options: AgentSetupOptions): Parts {
  const unknown = Object.keys(options).find((option) => !known.includes(option))
  if (unknown !== undefined) throw wrong(unknown, `is unknown. Valid options: client, ${known.join(', ')}`)
  const { apiKey = 'paste your API key here', name = 'modelhatch', webSockets = false } = options
  if (typeof apiKey !== 'string' || !/^[\x20-\x7e]+$/.test(apiKey)) throw wrong('apiKey', 'must be visible ASCII text')
  if (typeof name !== 'string' || !/^[a-z][a-z0-9-]{0,63}$/i.test(name)) {
    throw wrong('name', 'must consist of letters, digits and hyphens, and begin with a letter')
  }
  if (typeof webSockets !== 'boolean') throw wrong('webSockets', 'must be true or false')
  return { baseURL: baseOf(options.baseURL), models: modelsOf(options.models), apiKey, name, webSockets }
}

function baseOf(given: unknown): string {
  const url = typeof given === 'string' ? URL.parse(given) : null
  const isPlain =
    url !== null && /^https?:$/.test(url.protocol) && url.username + url.password + url.search + url.hash === ''
  if (!isPlain) throw wrong('baseURL', 'must be an http or https URL without a query, such as https://example.com/ai')
  return url.href.replace(/(?:\/v1)?\/*$/, '')
}

function modelsOf(given: unknown): Parts['models'] {
  const models = (Array.isArray(given) ? given : []).map((each: unknown) =>
    typeof each === 'string' ? { id: each } : (Object(each) as AgentModel),
  )
  const [first, ...others] = models
  if (first === undefined) throw wrong('models', 'must be an array of at least one model')
  for (const { id, displayName = id, contextWindow = 1, maxOutputTokens = 1 } of models) {
    if (!isLine(id) || !isLine(displayName)) throw wrong('models', 'must have names of one line each')
    if (!isCount(contextWindow) || !isCount(maxOutputTokens)) throw wrong('models', 'must have whole numbers of tokens')
  }
  return [first, ...others]
}

/** Whether a value is a text that no shell, TOML or JSON reader takes for more than one line. */
function isLine(value: unknown): boolean {
  return typeof value === 'string' && value !== '' && value.isWellFormed() && !/[\p{Cc}\u2028\u2029]/u.test(value)
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) > 0
}

function wrong(option: string, message: string): TypeError {
  return mistake(option, message, 'agentSetup')
}
