import type { ServerResponse } from 'node:http'
import { sendJson } from '../send.ts'
import type { VendorReply, VendorRequest } from '../vendor.ts'

/** The course of one video job. */
export interface VideoScript {
  /** How many polls find the job unfinished. Default 1. */
  readonly unfinished?: number
  /** The result: the video, a rejection by the content filter, or an error. Default `made`. */
  readonly end?: 'made' | 'filtered' | 'failed'
  /** The file's bytes. Default: the text `a video`. */
  readonly video?: Buffer
  /** The origin in the file URLs the vendor gives. Default: Google's own, `https://generativelanguage.googleapis.com`. */
  readonly files?: string
}

/** A video request as the vendor understands it. */
export interface VideoSubmission {
  /** The vendor's name for the model. */
  readonly model: string
  /** The text prompt. */
  readonly prompt: string
  /** The length of the video. Default 8 for Veo. */
  readonly seconds: number
  /** All other parameters, by the vendor's names. */
  readonly settings: Readonly<Record<string, unknown>>
  /** The input image, if there is one. */
  readonly image:
    | {
        /** The media type. */
        readonly type: string
        /** The bytes. */
        readonly base64: string
      }
    | undefined
}

/** A vendor's request handler and what it has received. */
export interface GoogleVideos {
  /** Pass it to `scriptedVendor`. */
  readonly reply: VendorReply
  /** The videos requested so far, oldest first. */
  readonly submissions: VideoSubmission[]
  /** The indexes in `submissions` of the cancelled jobs. */
  readonly cancelled: number[]
}

interface Job {
  readonly script: VideoScript
  polls: number
}

const settings = new Set(['aspectRatio', 'resolution', 'negativePrompt', 'personGeneration', 'seed', 'sampleCount'])

/**
 * Google's video models: Veo on the Gemini API and on Vertex AI, and Omni's interactions. Like Google, it serves a file
 * only to requests with the key, and redirects them once first.
 *
 * @param key What requests must carry in `x-goog-api-key`, as a bearer token, or in the query's `key`; otherwise they get
 *   a 403.
 * @param plan The course of each job. Default: unfinished at the first poll, then made.
 */
export function googleVideos(
  key: string,
  plan: (submission: VideoSubmission) => VideoScript = () => ({}),
): GoogleVideos {
  const submissions: VideoSubmission[] = []
  const jobs: Job[] = []
  const cancelled: number[] = []
  const begin = (submission: VideoSubmission): number => {
    submissions.push(submission)
    return jobs.push({ script: plan(submission), polls: 0 }) - 1
  }
  const jobIn = (text: string): [number, Job | undefined] => {
    const number = Number(/(?:op-|job-|video)(\d+)/.exec(text)?.[1])
    return [number, jobs[number]]
  }
  return {
    submissions,
    cancelled,
    reply(request, response) {
      const { url, headers, json } = request
      const keys = [headers['x-goog-api-key'], headers.authorization, new URL(url, 'http://a').searchParams.get('key')]
      if (!keys.includes(key) && !keys.includes(`Bearer ${key}`)) {
        return sendError(response, 403, 'PERMISSION_DENIED', 'Method doesn’t allow unregistered callers.')
      }
      const vertex = /projects\/.*(?=:predictLongRunning)/.exec(url)?.[0]
      if (url.includes(':predictLongRunning')) {
        const submission = prediction(request)
        if (typeof submission === 'string') return sendError(response, 400, 'INVALID_ARGUMENT', submission)
        const parent = vertex ?? `models/${submission.model}`
        return sendJson(response, 200, JSON.stringify({ name: `${parent}/operations/op-${begin(submission)}` }))
      }
      if (url.endsWith('/interactions')) {
        const number = begin(interaction(json as Interaction))
        return sendJson(response, 200, JSON.stringify(interactionOf(number, {}, 'in_progress')))
      }
      if (url.includes('/files/')) return sendFile(request, response, jobIn(url)[1])
      const { operationName: name = url } = Object(json) as { operationName?: string }
      const [number, job] = jobIn(name)
      if (job === undefined) return sendError(response, 404, 'NOT_FOUND', 'The job was not found.')
      if (url.endsWith('/cancel')) cancelled.push(number)
      const done = job.polls++ >= (job.script.unfinished ?? 1)
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

/** The submission, or the message of the vendor's error. */
function prediction({ url, json }: VendorRequest): VideoSubmission | string {
  const { instances, parameters = {} } = json as Prediction
  const [{ prompt, image }] = instances
  const { durationSeconds: seconds = 8, ...others } = parameters
  const unknown = Object.keys(others).find((name) => !settings.has(name))
  if (unknown !== undefined) return `\`${unknown}\` isn't supported by this model.`
  if (![4, 6, 8].includes(seconds as number)) return `Unsupported output video duration ${seconds as number} seconds.`
  const [, model = ''] = /models\/([\w.-]+):/.exec(url) ?? []
  const decoded = image && { type: image.mimeType, base64: image.bytesBase64Encoded }
  return { model, prompt, seconds: seconds as number, settings: others, image: decoded }
}

interface Interaction {
  readonly model: string
  readonly input:
    | string
    | readonly { readonly type: string; readonly text?: string; data?: string; mime_type?: string }[]
  readonly response_format: { readonly duration: string; readonly aspect_ratio?: string; readonly resolution?: string }
}

function interaction({ model, input, response_format: format }: Interaction): VideoSubmission {
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
  const filtered = { raiMediaFilteredCount: 1, raiMediaFilteredReasons: ['The video violates the usage guidelines.'] }
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
  status: 'in_progress' | NonNullable<VideoScript['end']>,
): object {
  const head = { id: `v1_job-${number}`, object: 'interaction' }
  const completed = (content: object) => ({
    ...head,
    status: 'completed',
    steps: [{ type: 'model_output', content: [content] }],
  })
  if (status === 'made') return completed({ type: 'video', mime_type: 'video/mp4', uri: uriOf(number, script) })
  if (status === 'filtered') return completed({ type: 'text', text: 'I cannot make this video.' })
  return { ...head, status }
}

function uriOf(number: number, { files = 'https://generativelanguage.googleapis.com' }: VideoScript): string {
  return `${files}/v1beta/files/video${number}:download?alt=media`
}

function sendFile({ url, headers }: VendorRequest, response: ServerResponse, job: Job | undefined): void {
  if (job === undefined) return sendError(response, 403, 'PERMISSION_DENIED', 'It may not exist.')
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

function sendError(response: ServerResponse, code: number, status: string, message: string): void {
  sendJson(response, code, JSON.stringify({ error: { code, message, status } }))
}
