/** Google's video models. Their files require our key, so clients download them through the gateway. */
import { GatewayError, refusedValue } from '../../../errors.ts'
import { fieldsOf, textOf, type Json, type Fields } from '../../../wire/json.ts'
import { readJsonObject, requireSuccess } from '../../answer.ts'
import type { VideoContext, VideoContent, VideoProvider } from '../../video.ts'
import { ranged, requireFound } from '../../videos/content.ts'
import { download } from '../../videos/download.ts'
import { askVendor, httpVideo, idOf } from '../../videos/http-video.ts'
import type { Vendor } from '../vendor.ts'
import type { GoogleVideoDialect } from './dialect.ts'
import { omniDialect, omniLimits } from './omni.ts'
import { veoDialect, veoLimits } from './veo.ts'

export function videosOf(vendor: Vendor, ignored: readonly string[] | undefined): VideoProvider {
  const { client } = vendor
  const [veo, omni] = [veoDialect(ignored), omniDialect(ignored)]
  const predictions = httpVideo(client, veo)
  const interactions = httpVideo(client, omni)
  return {
    // Neither API accepts an idempotency token or can list its jobs.
    submit: 'none',
    limits: (model) => (isVeo(model) ? veoLimits(model) : isOmni(model) ? omniLimits(model) : undefined),
    async start(call) {
      if (isVeo(call.model)) return predictions.start(call)
      if (isOmni(call.model)) return interactions.start(call)
      throw refusedValue('This model does not make videos.', 'model')
    },
    check: (operation, context) => (isPrediction(operation) ? predictions : interactions).check(operation, context),
    async cancel(operation, context) {
      if (!isPrediction(operation)) await interactions.cancel?.(operation, context)
    },
    content: (operation, context) => contentOf(vendor, isPrediction(operation) ? veo : omni, operation, context),
  }
}

async function contentOf(
  vendor: Vendor,
  dialect: GoogleVideoDialect,
  operation: Json,
  context: VideoContext & { readonly range?: string | undefined },
): Promise<VideoContent> {
  const { uri } = fieldsOf(operation)
  if (typeof uri === 'string') return download(fileAt(vendor, uri), context, (url) => vendor.clientAt(url))
  const transfer = await askVendor(vendor.client, dialect.check(idOf(operation, dialect)), { signal: context.signal })
  requireFound(transfer)
  await requireSuccess(transfer, undefined, dialect.fault)
  const { value } = await readJsonObject(transfer, vendor.client.answerBytes)
  const { base64 } = dialect.videoIn(value as Fields)
  if (base64 === undefined) throw new GatewayError('not_found')
  return ranged(Buffer.from(base64, 'base64'), context.range)
}

/** Proxies return Google's URL of a file, but serve the file under their own base URL. */
function fileAt(vendor: Vendor, uri: string): URL | null {
  const [file] = /\bfiles\/[\w-]+:download\b/.exec(uri) ?? []
  return file === undefined ? URL.parse(uri) : new URL(`${vendor.base}/${file}?alt=media`)
}

function isVeo(model: string): boolean {
  return /(?:^|\/)veo-/.test(model)
}

function isOmni(model: string): boolean {
  return /(?:^|\/)gemini-omni-/.test(model)
}

function isPrediction(operation: Json): boolean {
  return textOf(fieldsOf(operation)['id']).includes('/operations/')
}
