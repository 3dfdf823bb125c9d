/**
 * Google's video models: Veo's predictions, on the Gemini API and on Vertex AI, and Omni's interactions. Like the real
 * vendor it gives a file out to nobody without the key, and not before having sent them to another place.
 */
import type { ServerResponse } from 'node:http'
import { sendJson } from '../scripted-vendor.ts'
import type { VendorReply, VendorRequest } from '../vendor.ts'

/** How a job goes. */
export interface VideoScript {
  /** Questions about it that find it unfinished. Default 1. */
  readonly unfinished?: number
  /** Default `made`. */
  readonly end?: 'made' | 'filtered' | 'failed'
  /** The file. Default `a video`. */
  readonly video?: Buffer
  /** Where the vendor says that its files are. Default: Google's own address. */
  readonly files?: string
}

/** A submission as the vendor understands it. */
export interface HeardVideo {
  readonly model: string
  readonly prompt: string
  readonly seconds: number
  readonly settings: Readonly<Record<string, unknown>>
  readonly image: { readonly type: string; readonly base64: string } | undefined
}

export interface GoogleVideos {
  readonly reply: VendorReply
  /** What was submitted so far, oldest first. */
  readonly heard: HeardVideo[]
  /** The jobs that were cancelled, by their number from 0. */
  readonly cancelled: number[]
}

interface Job {
  readonly script: VideoScript
  asked: number
}

const settings = new Set(['aspectRatio', 'resolution', 'negativePrompt', 'personGeneration', 'seed', 'sampleCount'])

/** `key` is what requests must carry: in `x-goog-api-key`, as a bearer token, or in the query. */
export function googleVideos(key: string, plan: (heard: HeardVideo) => VideoScript = () => ({})): GoogleVideos {
  const heard: HeardVideo[] = []
  const jobs: Job[] = []
  const cancelled: number[] = []
  const begin = (asked: HeardVideo): number => {
    heard.push(asked)
    return jobs.push({ script: plan(asked), asked: 0 }) - 1
  }
  const jobIn = (text: string): [number, Job | undefined] => {
    const number = Number(/(?:op-|job-|video)(\d+)/.exec(text)?.[1])
    return [number, jobs[number]]
  }
  return {
    heard,
    cancelled,
    reply(request, response) {
      const { url, headers, json } = request
      const carried = [
        headers['x-goog-api-key'],
        headers.authorization,
        new URL(url, 'http://a').searchParams.get('key'),
      ]
      if (!carried.includes(key) && !carried.includes(`Bearer ${key}`)) {
        return refuse(response, 403, 'PERMISSION_DENIED', 'Method doesn’t allow unregistered callers.')
      }
      const vertex = /projects\/.*(?=:predictLongRunning)/.exec(url)?.[0]
      if (url.includes(':predictLongRunning')) {
        const asked = prediction(request)
        if (typeof asked === 'string') return refuse(response, 400, 'INVALID_ARGUMENT', asked)
        const place = vertex ?? `models/${asked.model}`
        return sendJson(response, 200, JSON.stringify({ name: `${place}/operations/op-${begin(asked)}` }))
      }
      if (url.endsWith('/interactions')) {
        const number = begin(interaction(json as Interaction))
        return sendJson(response, 200, JSON.stringify(interactionOf(number, {}, 'in_progress')))
      }
      if (url.includes('/files/')) return give(request, response, jobIn(url)[1])
      const { operationName: name = url } = Object(json) as { operationName?: string }
      const [number, job] = jobIn(name)
      if (job === undefined) return refuse(response, 404, 'NOT_FOUND', 'The job was not found.')
      if (url.endsWith('/cancel')) cancelled.push(number)
      const done = job.asked++ >= (job.script.unfinished ?? 1)
      const answer = url.includes('/interactions/')
        ? interactionOf(number, job.script, done ? (job.script.end ?? 'made') : 'in_progress')
        : { name, ...(done && { done, ...ended(number, job.script, name.startsWith('projects/')) }) }
      sendJson(response, 200, JSON.stringify(answer))
    },
  }
}

interface Prediction {
  readonly instances: readonly [
    { readonly prompt: string; readonly image?: { readonly bytesBase64Encoded: string; readonly mimeType: string } },
  ]
  readonly parameters?: Readonly<Record<string, unknown>>
}

/** Text: what is wrong with it. */
function prediction({ url, json }: VendorRequest): HeardVideo | string {
  const { instances, parameters = {} } = json as Prediction
  const [{ prompt, image }] = instances
  const { durationSeconds: seconds = 8, ...others } = parameters
  const unknown = Object.keys(others).find((name) => !settings.has(name))
  if (unknown !== undefined) return `\`${unknown}\` isn't supported by this model.`
  if (![4, 6, 8].includes(seconds as number)) return `Unsupported output video duration ${seconds as number} seconds.`
  const [, model = ''] = /models\/([\w.-]+):/.exec(url) ?? []
  const shown = image && { type: image.mimeType, base64: image.bytesBase64Encoded }
  return { model, prompt, seconds: seconds as number, settings: others, image: shown }
}

interface Interaction {
  readonly model: string
  readonly input:
    | string
    | readonly { readonly type: string; readonly text?: string; data?: string; mime_type?: string }[]
  readonly response_format: { readonly duration: string; readonly aspect_ratio?: string; readonly resolution?: string }
}

function interaction({ model, input, response_format: format }: Interaction): HeardVideo {
  const parts = typeof input === 'string' ? [{ type: 'text', text: input }] : input
  const image = parts.find(({ type }) => type === 'image')
  const { duration, ...others } = format
  return {
    model,
    prompt: parts.find(({ type }) => type === 'text')?.text ?? '',
    seconds: Number(duration.replace('s', '')),
    settings: others,
    image: image && { type: image.mime_type ?? '', base64: image.data ?? '' },
  }
}

function ended(number: number, script: VideoScript, vertex: boolean): object {
  const { end = 'made', video = Buffer.from('a video') } = script
  if (end === 'failed') return { error: { code: 13, message: 'Video generation failed due to an internal error.' } }
  const filtered = { raiMediaFilteredCount: 1, raiMediaFilteredReasons: ['It would show what it must not.'] }
  if (vertex) {
    const videos = [{ bytesBase64Encoded: video.toString('base64'), mimeType: 'video/mp4' }]
    return { response: end === 'filtered' ? filtered : { videos } }
  }
  const generatedSamples = [{ video: { uri: uriOf(number, script) } }]
  return { response: { generateVideoResponse: end === 'filtered' ? filtered : { generatedSamples } } }
}

function interactionOf(
  number: number,
  script: VideoScript,
  how: 'in_progress' | NonNullable<VideoScript['end']>,
): object {
  const head = { id: `v1_job-${number}`, object: 'interaction' }
  const said = (content: object) => ({
    ...head,
    status: 'completed',
    steps: [{ type: 'model_output', content: [content] }],
  })
  if (how === 'made') return said({ type: 'video', mime_type: 'video/mp4', uri: uriOf(number, script) })
  if (how === 'filtered') return said({ type: 'text', text: 'I cannot make this video.' })
  return { ...head, status: how }
}

function uriOf(number: number, { files = 'https://generativelanguage.googleapis.com' }: VideoScript): string {
  return `${files}/v1beta/files/video${number}:download?alt=media`
}

function give({ url, headers }: VendorRequest, response: ServerResponse, job: Job | undefined): void {
  if (job === undefined) return refuse(response, 403, 'PERMISSION_DENIED', 'It may not exist.')
  if (!url.includes('/download/')) {
    response.writeHead(302, { location: `/download${url}` }).end()
    return
  }
  const { video = Buffer.from('a video') } = job.script
  const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? []
  if (from === undefined) {
    response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': video.length }).end(video)
    return
  }
  const part = video.subarray(Number(from), Number(to) + 1)
  const range = `bytes ${from}-${to}/${video.length}`
  response.writeHead(206, { 'content-type': 'video/mp4', 'content-range': range }).end(part)
}

function refuse(response: ServerResponse, code: number, status: string, message: string): void {
  sendJson(response, code, JSON.stringify({ error: { code, message, status } }))
}
