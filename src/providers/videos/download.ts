/** A file at an address that a vendor names. */
import { publicLookup, publicUrl } from '../../http/public-address.ts'
import { GatewayError } from '../../errors.ts'
import { Client, type ClientOptions } from '../client.ts'
import { tryNext } from '../failure.ts'
import type { VideoContent, VideoContext } from '../video.ts'
import { contentOf } from './content.ts'

const redirects = 5

/** `clientAt`: with what to go to an address, closed after it; throws where nobody should go. */
export async function download(
  file: URL | null,
  { signal, range }: VideoContext & { readonly range?: string },
  clientAt: (url: URL) => Client,
): Promise<VideoContent> {
  let url = file
  for (let turn = 0; turn <= redirects && url !== null; turn++) {
    const client = clientAt(url)
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
  throw tryNext(new Error('the vendor does not say where the file is'))
}

/** A client without credentials of ours. `inside`: only a vendor of our own network may send us to places in it. */
export function strangersClient(
  url: URL,
  inside: boolean,
  options: Partial<Omit<ClientOptions, 'baseURL'>> = {},
): Client {
  const allowed = inside ? /^https?:$/.test(url.protocol) : url.protocol === 'https:' && publicUrl(url.href)
  if (!allowed) throw tryNext(new Error('the vendor keeps a file where we do not go'))
  return new Client({ ...options, baseURL: url.origin, headers: {} }, inside ? undefined : publicLookup())
}

async function* closing(body: AsyncIterable<Uint8Array>, client: Client): AsyncGenerator<Uint8Array> {
  try {
    yield* body
  } finally {
    await client.close()
  }
}
