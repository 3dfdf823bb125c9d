/** The provider for the models of Amazon Bedrock, over its OpenAI-compatible API or Anthropic's Messages. */
import { anthropic, type AnthropicOptions } from '../anthropic/anthropic.ts'
import type { Provider } from '../contract.ts'
import { keyCredentials, withOwnKey } from '../credentials/key.ts'
import type { KeySource } from '../credentials/token.ts'
import { openai } from '../openai/openai.ts'
import type { OpenAIOptions } from '../openai/options.ts'
import { AwsCredentials, type AwsKeys } from './signature.ts'

/** The account at AWS, and the part of Bedrock that is used. */
export interface BedrockAccess {
  /** Such as `us-east-1`. */
  readonly region: string
  /**
   * Keys of AWS that sign each request, or a function that returns them, such as a credential provider of AWS's SDK
   * (`fromNodeProviderChain()`). Required without `apiKey`.
   */
  readonly credentials?: AwsKeys | (() => AwsKeys | Promise<AwsKeys>) | undefined
  /** An API key of Bedrock, or a function that returns it, instead of `credentials`. */
  readonly apiKey?: string | KeySource | undefined
  /**
   * `runtime`, which AWS recommends, or `mantle`. The names of models differ: `us.anthropic.claude-sonnet-4-5-20250929-v1:0` at
   * the first, `anthropic.claude-sonnet-4-5` at the second. Default `runtime`.
   */
  readonly endpoint?: 'runtime' | 'mantle'
}

/** Options of `bedrock` for Claude, over Anthropic's Messages. */
export interface BedrockAnthropicOptions extends BedrockAccess, Omit<AnthropicOptions, keyof BedrockAccess> {
  /** The API that the models are called by. */
  readonly api: 'anthropic'
}

/** Options of `bedrock` for the other models, over OpenAI's API. */
export interface BedrockOpenAIOptions
  extends BedrockAccess, Omit<OpenAIOptions, keyof BedrockAccess | 'preset' | 'keyHeader'> {
  /** The API that the models are called by. */
  readonly api: 'openai'
}

/** Options of `bedrock`: those of the API that the models are called by, and the access to it. */
export type BedrockOptions = BedrockAnthropicOptions | BedrockOpenAIOptions

/**
 * Creates the provider for the models of Amazon Bedrock, by the signature of AWS or a key. Throws a `TypeError` for an unknown
 * option, or if neither `credentials` nor `apiKey` is given.
 *
 * @example
 * bedrock({ api: 'anthropic', region: 'us-east-1', credentials: fromNodeProviderChain() })
 */
export function bedrock(options: BedrockOptions): Provider {
  const { region, credentials, apiKey, endpoint = 'runtime', ...given } = options
  if (!/^[a-z]{2,8}(?:-[a-z0-9]+)+$/.test(region))
    throw new TypeError('bedrock: "region" must be one of AWS, such as "us-east-1"')
  if (!(endpoint in hosts)) throw new TypeError('bedrock: "endpoint" must be "runtime" or "mantle"')
  if ((credentials === undefined) === (apiKey === undefined || apiKey === '')) {
    throw new TypeError('bedrock: give either "credentials" or "apiKey": is a variable unset?')
  }
  const host = hosts[endpoint](region)
  const signing =
    credentials === undefined
      ? keyCredentials(apiKey as string | KeySource)
      : new AwsCredentials(credentials, { region, service: endpoint === 'runtime' ? 'bedrock' : 'bedrock-mantle' })
  if (given.api === 'anthropic') {
    const { api: _, ...rest } = given
    const provider = anthropic({ name: 'bedrock', baseURL: `${host}/anthropic`, ...rest, credentials: signing })
    return { ...provider, withKey: (key) => bedrock(withOwnKey(options, provider.name, key)) }
  }
  if (given.api !== 'openai') throw new TypeError('bedrock: "api" must be "anthropic" or "openai"')
  const { api: _, ...rest } = given
  const provider = openai({ name: 'bedrock', baseURL: `${host}/openai/v1`, ...rest, credentials: signing })
  return { ...provider, withKey: (key) => bedrock(withOwnKey(options, provider.name, key)) }
}

const hosts = {
  runtime: (region: string): string =>
    `https://bedrock-runtime.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`,
  mantle: (region: string): string => `https://bedrock-mantle.${region}.api.aws`,
}
