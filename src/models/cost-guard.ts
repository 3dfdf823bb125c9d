/**
 * Fields that change what the host pays. A provider lists those of its vendor (`Provider.costs`). They are rejected with
 * a 400 unless the model's options allow them (`allow`) or set them (`set`). All other unknown fields are passed on.
 */
import { type GatewayError, refusedField } from '../errors.ts'
import type { CostRules, Harmless } from '../providers/costs/contract.ts'
import { placing } from '../providers/costs/placing.ts'
import type { Deployment, Model } from './contract.ts'
import { isType, refersToFile, searchConversation, valueToSearch, type Searched } from './conversation-guard.ts'
import { containers, isNamed, knownNames, readHere, type KnownNames } from './field-names.ts'
import { checkName } from './name-guard.ts'

/** The fields of a request. */
export interface GuardedRequest extends Searched {
  /** The names of the top-level fields, as the client wrote them. */
  readonly names: () => Iterable<string>
  /** Whether an object inside a field has a duplicate name. Parsers differ in which of the two they use. */
  readonly repeatsWithin?: ((name: string) => boolean) | undefined
}

/** Changes to a request: new values of fields; undefined removes a field. */
export type Changes = Readonly<Record<string, unknown>>

/** The changes that `set` requires. Throws a 400 for the first field that clients may not use. */
export function fitCosts(endpoint: string, request: GuardedRequest, model: Model): Changes | undefined {
  let changes: Record<string, unknown> | undefined = model.set && { ...model.set }
  for (const deployment of model.deployments) {
    const rules = deployment.provider.costs?.(endpoint)
    if (rules === undefined) continue
    checkName(rules, model, deployment)
    const made = new Check(rules, request, model, deployment).run()
    if (made !== undefined) changes = { ...made, ...changes }
  }
  return changes
}

/**
 * Checks one field of a form that is passed on while it is received, whose later fields `fitCosts` could not check.
 * Returns false if the field must be left out. Throws like `fitCosts`.
 */
export function passesLate(endpoint: string, name: string, value: string, model: Model): boolean {
  const field = (other: string) => (other === name ? value : undefined)
  return model.deployments.every((deployment) => {
    const rules = deployment.provider.costs?.(endpoint)
    if (rules === undefined) return true
    const changes = new Check(rules, { names: () => [name], field }, model, deployment).run()
    return changes === undefined || !Object.hasOwn(changes, name) || changes[name] !== undefined
  })
}

class Check {
  readonly #rules: CostRules
  readonly #known: KnownNames
  readonly #request: GuardedRequest
  readonly #model: Model
  readonly #allow: readonly string[]
  readonly #set: Changes

  constructor(rules: CostRules, request: GuardedRequest, model: Model, deployment: Deployment) {
    this.#rules = rules
    this.#known = knownNames(rules)
    this.#request = request
    this.#model = model
    this.#allow = model.allow ?? deployment.allow ?? []
    this.#set = { ...deployment.set, ...model.set }
  }

  run(): Record<string, unknown> | undefined {
    let changes: Record<string, unknown> | undefined
    for (const name of this.#request.names()) {
      const base = this.#known.baseOf(name)
      if (base === undefined) continue
      const change = this.#fit(name, base)
      if (change !== undefined) changes = { ...changes, ...change }
    }
    for (const name of this.#rules.conversation?.fields ?? []) {
      const change = this.#conversation(name)
      if (change !== undefined) changes = { ...changes, ...change }
    }
    return changes
  }

  #conversation(name: string): Changes | undefined {
    const { conversation } = this.#rules
    if (conversation === undefined) return undefined
    const value = valueToSearch(name, this.#request, conversation)
    if (value === undefined) return undefined
    searchConversation(value, name, conversation, {
      typed: (place, type, allow) => {
        if (!isAllowed(this.#allow, allow) && !isAllowed(this.#allow, type)) throw this.#refusal(place, type)
      },
      file: (place) => {
        if (!this.#allow.includes('files')) throw this.#refusal(place)
      },
      tool: (tool, place) => void (this.#allow.includes('tools') || this.#keeps(tool, place)),
    })
    return this.#request.repeatsWithin?.(name) === true ? { [name]: this.#request.field(name) } : undefined
  }

  /** `base`: the name without the `[part]` of a form. */
  #fit(name: string, base: string): Changes | undefined {
    if (name === 'tools') return this.#tools(name)
    if (readHere.includes(name) && !Object.hasOwn(this.#rules.fields, name)) return undefined
    const value = this.#request.field(name)
    const container = containers.find((each) => isNamed(base, each))
    if (container !== undefined) return this.#container(name, value)
    // A field in `set` is not rejected: its value is replaced, and other spellings of it are removed.
    const fixed = Object.keys(this.#set).find((each) => isNamed(base, each))
    if (fixed !== undefined) return name === fixed ? undefined : { [name]: undefined }
    if (Object.hasOwn(placing, name)) {
      const isKnown = Object.hasOwn(this.#rules.fields, name)
      if (!isKnown || this.#rules.isTranslated === true) this.#refusePlace(name, value)
      if (!isKnown) return undefined
    }
    const file = this.#rules.fileFields?.find((each) => isNamed(base, each))
    if (file !== undefined) {
      if (this.#allow.includes('files') || (name === file && !refersToFile(parsedJson(value)))) return undefined
      throw this.#refusal(name)
    }
    if (this.#mayPass(base, value)) return undefined
    if (this.#rules.offeredFields?.some((each) => isNamed(base, each)) === true) return { [name]: undefined }
    throw this.#refusal(name)
  }

  /** A field that says where or how a request may be processed, at a vendor that does not get it. */
  #refusePlace(name: string, value: unknown): void {
    if (value === undefined || value === null || isHarmless(placing[name] ?? [], value, this.#request.field)) return
    throw refusedField(`The model "${this.#model.id}" cannot keep to "${name}". Remove it, or use another model.`, name)
  }

  #container(name: string, given: unknown): Changes | undefined {
    const value = parsedJson(given)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
    for (const inner of Object.keys(value)) {
      const base = this.#known.baseOf(inner)
      if (base === undefined) continue
      const member = (value as Changes)[inner]
      // The gateway has not checked these here.
      if (readHere.some((each) => isNamed(base, each)) || containers.some((each) => isNamed(base, each))) {
        if (member !== null) throw this.#refusal(`${name}.${inner}`)
      } else if (!this.#mayPass(base, member, true)) throw this.#refusal(`${name}.${inner}`)
    }
    return this.#request.repeatsWithin?.(name) === true ? { [name]: value } : undefined
  }

  #mayPass(base: string, value: unknown, inside = false): boolean {
    if (value === undefined || value === null) return true
    if (this.#allow.some((each) => isNamed(base, each))) return true
    const [name, harmless]: readonly [string, Harmless] = Object.entries(this.#rules.fields).find(([each]) =>
      isNamed(base, each),
    ) ?? ['', []]
    // A function applies only to the field's exact name, because that is what the provider reads.
    if (typeof harmless === 'function' && (inside || base !== name)) return false
    return isHarmless(harmless, value, this.#request.field)
  }

  #tools(name: string): Changes | undefined {
    const { clientTools } = this.#rules
    const tools = parsedJson(this.#request.field(name))
    if (clientTools === undefined || !Array.isArray(tools)) return undefined
    if (this.#allow.includes('tools')) return undefined
    const kept = tools.filter((tool, index) => this.#keeps(tool, `tools[${index}]`))
    // Without any tool, a model makes up what a tool would have found.
    if (kept.length === 0 && tools.length > 0 && !isNone(this.#request.field('tool_choice')))
      throw this.#refusal('tools[0].type', String(Object(tools[0]).type))
    if (kept.length < tools.length)
      return { [name]: kept.length === 0 ? undefined : kept, ...this.#choice(tools, kept) }
    return this.#request.repeatsWithin?.(name) === true ? { [name]: kept } : undefined
  }

  /** A choice of a tool that was left out. */
  #choice(tools: readonly unknown[], kept: readonly unknown[]): Changes | undefined {
    const choice = this.#rules.freesChoice === true ? this.#request.field('tool_choice') : undefined
    if (choice === undefined || choice === null) return undefined
    const stay = new Set(kept)
    const removed = tools.filter((tool) => !stay.has(tool))
    return isChoiceKept(choice, kept, removed) ? undefined : { tool_choice: undefined }
  }

  /** Returns false if the tool must be left out. A tool may contain a group of tools. */
  #keeps(tool: unknown, place: string): boolean {
    const { type, tools, environment } = Object(tool) as { type?: unknown; tools?: unknown; environment?: unknown }
    const other = Object.keys(Object(tool) as object).find((name) => name !== 'type' && isType(name))
    if (other !== undefined) throw this.#refusal(`${place}.${other}`)
    if (typeof type !== 'string' || isAllowed(this.#allow, type)) return true
    const { clientTools = [], offeredTools = [] } = this.#rules
    if (!clientTools.some((each) => type === each || (each.endsWith('_') && type.startsWith(each)))) {
      if (offeredTools.some((each) => type.startsWith(each)) && !place.includes('.')) return false
      throw this.#refusal(`${place}.type`, type)
    }
    const { type: where = 'local' } = Object(environment) as { type?: unknown }
    if (where !== 'local') throw this.#refusal(`${place}.environment`)
    if (Array.isArray(tools)) tools.forEach((inner, index) => this.#keeps(inner, `${place}.tools[${index}]`))
    return true
  }

  #refusal(param: string, type?: string): GatewayError {
    const what = type === undefined ? `"${param}"` : `the type "${type.slice(0, 64)}" of "${param}"`
    return refusedField(
      `The model "${this.#model.id}" does not allow ${what}, because it may change the cost or reach the operator's account. Remove it.`,
      param,
    )
  }
}

function isHarmless(harmless: Harmless, value: unknown, field: GuardedRequest['field']): boolean {
  return typeof harmless === 'function' ? harmless(value, field) : harmless.includes(value)
}

/** Whether the options of a model, or of every deployment of it, let clients use a field, a tool or a feature. */
export function allows({ allow, deployments }: Pick<Model, 'allow' | 'deployments'>, name: string): boolean {
  if (allow !== undefined) return isAllowed(allow, name)
  return deployments.every((deployment) => isAllowed(deployment.allow ?? [], name))
}

/** `web_search` also allows its versions, such as `web_search_20250305`. */
function isAllowed(allow: readonly string[], name: string): boolean {
  return allow.some((each) => name === each || (name.startsWith(`${each}_`) && /_\d{8}$/.test(name)))
}

/** The parts of a request that changes remove: fields, and tools by their type. */
export function omissionsIn(changes: Changes, { field }: Pick<GuardedRequest, 'field'>): string[] {
  const omitted: string[] = []
  for (const [name, value] of Object.entries(changes)) {
    const given = field(name)
    if (name === 'tools' && Array.isArray(given)) {
      const kept = new Set(Array.isArray(value) ? (value as unknown[]) : [])
      for (const tool of given as unknown[]) {
        const { type } = Object(tool) as { type?: unknown }
        if (!kept.has(tool) && typeof type === 'string') omitted.push(type)
      }
    } else if (value === undefined && given !== undefined && given !== null) omitted.push(name)
  }
  return omitted
}

/** Objects in forms are JSON text. */
function parsedJson(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}

/** Whether a `tool_choice` of any API says that no tool must be called. */
function isNone(choice: unknown): boolean {
  return choice === 'none' || Object(choice).type === 'none'
}

/** Whether a `tool_choice` of Anthropic's API fits the tools that were kept. A choice that did not fit before does not count. */
function isChoiceKept(choice: unknown, kept: readonly unknown[], removed: readonly unknown[]): boolean {
  if (kept.length === 0) return false
  const { type, name } = Object(choice) as { readonly type?: unknown; readonly name?: unknown }
  return type !== 'tool' || !removed.some((tool) => (Object(tool) as { readonly name?: unknown }).name === name)
}
