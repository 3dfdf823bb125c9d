/** The files of the page: scripts, a style sheet, an icon and the licences of its libraries. */
import { createHash } from 'node:crypto'
import { extname } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import { header, type Exchange, type Reply } from '../../src/http/exchange.ts'
import { version } from '../../src/http/version.ts'

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
}

/** By the name of the encoding, the smallest first. */
const encodings = {
  br: (plain: Uint8Array): Promise<Uint8Array> => promisify(brotliCompress)(plain),
  gzip: (plain: Uint8Array): Promise<Uint8Array> => promisify(gzip)(plain, { level: 9 }),
}
type Encoding = keyof typeof encodings

/** Compressed at the first request in each encoding: all at once takes a quarter of a second of CPU. */
class Asset {
  readonly type: string
  readonly plain: Uint8Array
  readonly #packed: Partial<Record<Encoding, Promise<Uint8Array>>> = {}

  constructor(path: string, plain: Uint8Array) {
    this.type = types[extname(path)] as string
    this.plain = plain
  }

  packed(encoding: Encoding): Promise<Uint8Array> {
    return (this.#packed[encoding] ??= encodings[encoding](this.plain))
  }
}

/** The files by name, such as `main.js`, and the version that their URLs contain. */
export interface Assets {
  /** The version of the package and a digest of all files, such as `1.2.3-0a1b2c3d`. */
  readonly version: string
  /** The files by their path. */
  readonly files: ReadonlyMap<string, Asset>
}

/** What a site serves of the files by their path. */
export function assetsOf(page: ReadonlyMap<string, Uint8Array>): Assets {
  const digest = createHash('sha256')
  const files = new Map<string, Asset>()
  for (const [path, plain] of [...page].sort(([a], [b]) => (a < b ? -1 : 1))) {
    digest.update(path).update(plain)
    files.set(path, new Asset(path, plain))
  }
  return { version: `${version}-${digest.digest('hex').slice(0, 8)}`, files }
}

/**
 * The reply with a file. `version` is the one in the URL: during a rolling deployment, a page of the other version may ask,
 * and no cache must keep what it gets.
 */
export async function assetReply(
  assets: Assets,
  version: string,
  path: string,
  exchange: Pick<Exchange, 'headers'>,
): Promise<Reply | undefined> {
  const asset = assets.files.get(path)
  if (asset === undefined) return undefined
  const accepted = header(exchange, 'accept-encoding') ?? ''
  const encoding = (Object.keys(encodings) as Encoding[]).find((name) => accepts(accepted, name))
  return {
    status: 200,
    headers: {
      'content-type': asset.type,
      'cache-control': version === assets.version ? 'private, max-age=31536000, immutable' : 'no-store',
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
      vary: 'accept-encoding',
      ...(encoding && { 'content-encoding': encoding }),
    },
    body: encoding === undefined ? asset.plain : await asset.packed(encoding),
  }
}

function accepts(accepted: string, encoding: string): boolean {
  return new RegExp(`\\b${encoding}\\b(?!\\s*;\\s*q=0(?:\\.0*)?(?:,|$))`).test(accepted)
}
