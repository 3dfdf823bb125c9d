/** What a client wants of a video beside its words, read alike for all of Google's video models. */
import { invalid } from '../../../errors.ts'
import type { VideoRequest } from '../../../wire/video.ts'
import { readDataUrl, type InlineData } from '../../data-url.ts'
import { isRecord } from '../../reading/parts.ts'
import { unsupported, unsupportedValue } from '../../unsupported.ts'

/** Google's own names for what a client may set, and what each takes. Clients write them so or with underscores. */
const kinds = {
  aspectRatio: 'string',
  resolution: 'string',
  negativePrompt: 'string',
  personGeneration: 'string',
  seed: 'number',
  generateAudio: 'boolean',
} as const

export type Parameter = keyof typeof kinds

export interface Wishes {
  readonly image?: InlineData
  readonly parameters: Readonly<Partial<Record<Parameter, string | number | boolean>>>
}

/** Fields of the request in the form that every provider gets, and hints that ask for nothing. */
const readElsewhere = new Set(['model', 'prompt', 'duration', 'size', 'user', 'metadata'])

const pictures = new Set(['inputReference', 'inputReference[imageUrl]', 'imageUrl', 'image'])

/** One task is one video. */
const counts = new Set(['n', 'sampleCount', 'numberOfVideos'])

/** `taken`: what the model takes. Throws 400 for everything else, unless the host lets it fall. */
export function wishesIn(request: VideoRequest, taken: readonly Parameter[], ignored: readonly string[] = []): Wishes {
  const named = { publicModel: request.model }
  const parameters: Partial<Record<Parameter, string | number | boolean>> = {}
  let image: InlineData | undefined
  for (const [field, value] of Object.entries(request)) {
    if (readElsewhere.has(field) || ignored.includes(field) || value === undefined || value === null) continue
    const name = vendorName(field)
    if (counts.has(name)) {
      if (Number(value) !== 1) throw unsupportedValue(named, field, 'a task is one video; submit several tasks.')
    } else if (pictures.has(name)) image = pictureOf(named, field, value)
    else if (taken.includes(name as Parameter)) parameters[name as Parameter] = valueOf(field, name as Parameter, value)
    else throw unsupported(named, field)
  }
  const shape: Partial<Record<Parameter, string>> = request.size === undefined ? {} : shapeOf(named, request.size)
  for (const [name, told] of Object.entries(shape)) {
    const asked = parameters[name as Parameter]
    if (asked !== undefined && asked !== told) {
      throw unsupportedValue(named, fieldFor(name, request), `the size ${request.size} says ${told}.`)
    }
  }
  return { ...(image && { image }), parameters: { ...parameters, ...shape } }
}

/** The client's own spelling of a vendor's name. */
export function fieldFor(name: string, request: Readonly<Record<string, unknown>>): string {
  return Object.keys(request).find((field) => vendorName(field) === name) ?? name
}

function vendorName(field: string): string {
  return field.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/** Forms carry nothing but texts. */
function valueOf(field: string, name: Parameter, value: unknown): string | number | boolean {
  const kind = kinds[name]
  if (typeof value === kind) return value as string | number | boolean
  if (kind === 'number' && typeof value === 'string' && /^\d{1,10}$/.test(value)) return Number(value)
  if (kind === 'boolean' && (value === 'true' || value === 'false')) return value === 'true'
  throw invalid(`"${field}" must be a ${kind}.`, field)
}

function pictureOf(named: { publicModel: string }, field: string, value: unknown): InlineData {
  const { image_url: url = value } = isRecord(value) ? value : {}
  const picture = typeof url === 'string' ? readDataUrl(url) : undefined
  if (picture?.mediaType.startsWith('image/')) return picture
  throw unsupportedValue(named, field, 'send the picture as a data URL, such as "data:image/png;base64,…".')
}

const resolutions = new Map([
  [360, '360p'],
  [720, '720p'],
  [1080, '1080p'],
  [2160, '4k'],
])

/** `1280x720` → 16:9 in 720p. */
function shapeOf(named: { publicModel: string }, size: string): { aspectRatio: string; resolution: string } {
  const [width = 0, height = 0] = size.split('x').map(Number)
  const aspectRatio = width * 9 === height * 16 ? '16:9' : width * 16 === height * 9 ? '9:16' : undefined
  const resolution = resolutions.get(Math.min(width, height))
  if (aspectRatio !== undefined && resolution !== undefined) return { aspectRatio, resolution }
  throw unsupportedValue(named, 'size', 'it must be 1280x720, 1920x1080 or 3840x2160, or one of these upright.')
}
