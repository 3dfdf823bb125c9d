/** Reads the options of a video request, for vendors with their own names for them. */
import { invalid } from '../../errors.ts'
import type { VideoRequest } from '../../wire/video.ts'
import { fieldsOf, isRecord } from '../../wire/json.ts'
import { unsupported, unsupportedValue } from '../unsupported.ts'
import type { VideoAbilities, VideoShapes } from '../video.ts'

export type Setting = string | number | boolean

export type Settings<Name extends string> = Readonly<Partial<Record<Name, Setting>>>

export interface Picture {
  /** The name of the field, in the client's spelling. */
  readonly field: string
  /** Empty if the client's value is not a string. */
  readonly url: string
}

export interface VideoOptions<Name extends string> {
  readonly settings: Settings<Name>
  /** The first frame. */
  readonly picture: Picture | undefined
}

/** Fields that are the same for all vendors, and hints without effect. */
const readElsewhere = new Set(['model', 'prompt', 'duration', 'size', 'user', 'metadata'])

const pictures = new Set(['inputReference', 'inputReference[imageUrl]', 'imageUrl', 'image'])

/** The number of videos, which must be 1. */
const counts = new Set(['n', 'sampleCount', 'numberOfVideos'])

/**
 * `kinds` are the supported options, keyed by the vendor's camel case names; clients may use underscores instead. Throws
 * a 400 for every other field, except for those that the host ignores.
 */
export function readVideoOptions<Name extends string>(
  request: VideoRequest,
  kinds: Readonly<Record<Name, 'string' | 'number' | 'boolean'>>,
  ignored: readonly string[] = [],
): VideoOptions<Name> {
  const named = { publicModel: request.model }
  const settings: Partial<Record<Name, Setting>> = {}
  let picture: Picture | undefined
  for (const [field, value] of Object.entries(request)) {
    if (readElsewhere.has(field) || ignored.includes(field) || value === undefined || value === null) continue
    const name = vendorName(field)
    if (counts.has(name)) {
      if (Number(value) !== 1)
        throw unsupportedValue(named, field, 'a task has exactly one video; submit several tasks.')
    } else if (pictures.has(name)) picture = { field, url: urlOf(value) }
    else if (Object.hasOwn(kinds, name)) settings[name as Name] = valueOf(field, kinds[name as Name], value)
    else throw unsupported(named, field)
  }
  return { settings, picture }
}

/** The names that the parts of a size have as options. */
const sizeParts = new Set(['ratio', 'aspectRatio', 'resolution'])

/** What `readVideoOptions` accepts with these options, and `shapeOf` with these sizes. */
export function abilitiesOf(kinds: object, shapes?: VideoShapes): VideoAbilities {
  const fields = Object.keys(kinds).filter((name) => !sizeParts.has(name))
  return { ...(shapes && { shapes }), frames: ['first_frame'], fields: fields.map(fieldName) }
}

/** Adds the ratio and resolution of the size to the settings. Throws a 400 if the settings contradict them. */
export function withShape<S extends object, Shape extends object>(
  { model, size, ...request }: VideoRequest,
  settings: S,
  shape: Shape,
): S & Shape {
  for (const [name, expected] of Object.entries(shape)) {
    const requested = fieldsOf(settings)[name]
    if (requested === undefined || requested === expected) continue
    const why = `it contradicts the size ${size}, which is ${expected}.`
    throw unsupportedValue({ publicModel: model }, fieldFor(name, request), why)
  }
  return { ...settings, ...shape }
}

/** The client's spelling of a vendor's name. */
export function fieldFor(name: string, request: Readonly<Record<string, unknown>>): string {
  return Object.keys(request).find((field) => vendorName(field) === name) ?? name
}

function vendorName(field: string): string {
  return field.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

function fieldName(vendorName: string): string {
  return vendorName.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function urlOf(value: unknown): string {
  const { image_url: url = value } = isRecord(value) ? value : {}
  return typeof url === 'string' ? url : ''
}

/** Converts strings, because forms contain nothing else. */
function valueOf(field: string, kind: 'string' | 'number' | 'boolean', value: unknown): Setting {
  if (typeof value === kind) return value as Setting
  if (kind === 'number' && typeof value === 'string' && /^\d{1,10}$/.test(value)) return Number(value)
  if (kind === 'boolean' && (value === 'true' || value === 'false')) return value === 'true'
  throw invalid(`"${field}" must be a ${kind}.`, field)
}
