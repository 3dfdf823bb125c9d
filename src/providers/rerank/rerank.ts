/** Vendors that rank documents. Sources: the API references of Cohere, Jina, Voyage and text-embeddings-inference. */
import type { RerankAnswer, RerankRequest } from '../../wire/rerank.ts'
import { readJsonObject } from '../answer.ts'
import type { Client } from '../client.ts'
import type { Call, Provider } from '../contract.ts'
import { bearer } from '../credentials/key.ts'
import { rankingIn } from '../ranking.ts'
import { postJson, simpleVendor, type SimpleVendorOptions } from '../simple-vendor.ts'

type Body = (request: RerankRequest, model: string) => object

/**
 * Creates the provider for the rerank models of Cohere, which charges for searches. Throws a `TypeError` for an unknown option or an
 * invalid URL.
 *
 * @example
 * cohereRerank({ apiKey: process.env.COHERE_API_KEY })
 */
export function cohereRerank(options: SimpleVendorOptions = {}): Provider {
  return vendor({ name: 'cohere', baseURL: 'https://api.cohere.com/v2' }, options, named)
}

/** Creates the provider for the rerank models of Jina, which charges for tokens. Throws like `cohereRerank`. */
export function jinaRerank(options: SimpleVendorOptions = {}): Provider {
  return vendor({ name: 'jina', baseURL: 'https://api.jina.ai/v1' }, options, (request, model) => ({
    ...named(request, model),
    return_documents: false,
  }))
}

/** Creates the provider for the rerank models of Voyage, which charges for tokens. Throws like `cohereRerank`. */
export function voyageRerank(options: SimpleVendorOptions = {}): Provider {
  return vendor(
    { name: 'voyage', baseURL: 'https://api.voyageai.com/v1' },
    options,
    ({ top_n: top, ...request }, model) => ({ ...request, model, top_k: top || undefined }),
  )
}

/**
 * Creates the provider for a server of Hugging Face's text-embeddings-inference, which serves one model. Its default is
 * `http://localhost:8080`. Throws like `cohereRerank`.
 */
export function teiRerank(options: SimpleVendorOptions = {}): Provider {
  return vendor({ name: 'tei', baseURL: 'http://localhost:8080' }, options, ({ query, documents }) => ({
    query,
    texts: documents,
    truncate: true,
  }))
}

function named(request: RerankRequest, model: string): object {
  return { ...request, model, top_n: request.top_n || undefined }
}

function vendor(defaults: { name: string; baseURL: string }, options: SimpleVendorOptions, body: Body): Provider {
  return simpleVendor(defaults, options, bearer, (client) => ({ rerank: (call) => rerank(client, call, body) }))
}

async function rerank(client: Client, call: Call<RerankRequest>, body: Body): Promise<RerankAnswer> {
  const transfer = await postJson(client, call, '/rerank', body(call.request, call.model))
  return rankingIn((await readJsonObject(transfer, client.answerBytes)).value)
}
