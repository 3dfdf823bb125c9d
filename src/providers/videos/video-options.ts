/** What a client wants of a video beside its words, by the names that a vendor has for it. */
import { invalid } from '../../errors.ts'
import type { VideoRequest } from '../../wire/video.ts'
import { isRecord } from '../reading/parts.ts'
import { unsupported, unsupportedValue } from '../unsupported.ts'

export type Setting = string | number | boolean

export type Settings<Name extends string> = Readonly<Partial<Record<Name, Setting>>>

export interface Picture {
  /** As the client wrote it. */
  readonly field: string
  /** Empty where the client sent no text. */
  readonly url: string
}

export interface Wishes<Name extends string> {
  readonly settings: Settings<Name>
  /** A picture to begin with. */
  readonly picture?: Picture
}

/** Fields of the request in the form that every provider gets, and hints that ask for nothing. */
const readElsewhere = new Set(['model', 'prompt', 'duration', 'size', 'user', 'metadata'])

const pictures = new Set(['inputReference', 'inputReference[imageUrl]', 'imageUrl', 'image'])

/** One task is one video. */
const counts = new Set(['n', 'sampleCount', 'numberOfVideos'])

/**
 * `kinds`: what the model takes, by the vendor's own names; clients write them so or with underscores. Throws 400 for
 * everything else, unless the host lets it fall.
 */
export function readWishes<Name extends string>(
  request: VideoRequest,
  kinds: Readonly<Record<Name, 'string' | 'number' | 'boolean'>>,
  ignored: readonly string[] = [],
): Wishes<Name> {
  const named = { publicModel: request.model }
  const settings: Partial<Record<Name, Setting>> = {}
  let picture: Picture | undefined
  for (const [field, value] of Object.entries(request)) {
    if (readElsewhere.has(field) || ignored.includes(field) || value === undefined || value === null) continue
    const name = vendorName(field)
    if (counts.has(name)) {
      if (Number(value) !== 1) throw unsupportedValue(named, field, 'a task is one video; submit several tasks.')
    } else if (pictures.has(name)) picture = { field, url: urlOf(value) }
    else if (Object.hasOwn(kinds, name)) settings[name as Name] = valueOf(field, kinds[name as Name], value)
    else throw unsupported(named, field)
  }
  return { settings, ...(picture && { picture }) }
}

/** The settings, with what the size says of the same things. Throws 400 where the client has asked for something else. */
export function withShape<Name extends string>(
  request: VideoRequest,
  settings: Settings<Name>,
  shape: Settings<Name>,
): Settings<Name> {
  for (const [name, told] of Object.entries<Setting | undefined>(shape)) {
    const asked = settings[name as Name]
    if (told === undefined || asked === undefined || asked === told) continue
    const why = `the size ${request.size} says ${told}.`
    throw unsupportedValue({ publicModel: request.model }, fieldFor(name, request), why)
  }
  return { ...settings, ...shape }
}

/** The client's own spelling of a vendor's name. */
export function fieldFor(name: string, request: Readonly<Record<string, unknown>>): string {
  return Object.keys(request).find((field) => vendorName(field) === name) ?? name
}

function vendorName(field: string): string {
  return field.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

function urlOf(value: unknown): string {
  const { image_url: url = value } = isRecord(value) ? value : {}
  return typeof url === 'string' ? url : ''
}

/** Forms carry nothing but texts. */
function valueOf(field: string, kind: 'string' | 'number' | 'boolean', value: unknown): Setting {
  if (typeof value === kind) return value as Setting
  if (kind === 'number' && typeof value === 'string' && /^\d{1,10}$/.test(value)) return Number(value)
  if (kind === 'boolean' && (value === 'true' || value === 'false')) return value === 'true'
  throw invalid(`"${field}" must be a ${kind}.`, field)
}
