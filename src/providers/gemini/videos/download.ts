/** A file of Google's, with our credentials where they belong and nowhere else. */
import { GatewayError } from '../../../errors.ts'
import type { Client } from '../../client.ts'
import { unavailable } from '../../failure.ts'
import type { VideoContent, VideoContext } from '../../video.ts'
import { contentOf } from '../../videos/content.ts'
import type { Vendor } from '../vendor.ts'

const redirects = 5

export async function download(
  vendor: Vendor,
  uri: string,
  { signal, range }: VideoContext & { readonly range?: string },
): Promise<VideoContent> {
  // Whoever speaks for Google names Google's own address, and has the file under its own.
  const [file] = /\bfiles\/[\w-]+:download\b/.exec(uri) ?? []
  let url = file === undefined ? URL.parse(uri) : new URL(`${vendor.base}/${file}?alt=media`)
  for (let turn = 0; turn <= redirects && url !== null; turn++) {
    const client = vendor.clientAt(url)
    const path = url.pathname + url.search
    const transfer = await client.send({ method: 'GET', path, ...(range && { headers: { range } }), signal })
    const location = transfer.header('location')
    if (transfer.status < 300 || transfer.status >= 400 || location === undefined) {
      // A file that is gone is told like one of somebody else's.
      if (transfer.status === 403) throw transfer.fail(new GatewayError('not_found'))
      const content = await contentOf(transfer)
      return { ...content, body: closing(content.body, client) }
    }
    transfer.fail(new Error('the answer only says where the file is'))
    await client.close()
    url = URL.parse(location, url.href)
  }
  throw unavailable('next', new Error('the vendor does not say where the file is'))
}

async function* closing(body: AsyncIterable<Uint8Array>, client: Client): AsyncGenerator<Uint8Array> {
  try {
    yield* body
  } finally {
    await client.close()
  }
}
