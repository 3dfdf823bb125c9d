/** What a developer writes without a gateway: an Express route that checks a key and calls the vendor's own client. */
import type { RequestListener } from 'node:http'
import express, { type Request, type Response } from 'express'
import OpenAI from 'openai'

export function byHand(vendor: string): RequestListener {
  const client = new OpenAI({ baseURL: `${vendor}/v1`, apiKey: 'sk-vendor', maxRetries: 0 })
  const keys = new Set(['Bearer sk-bench'])
  const checked = (handle: (request: Request, response: Response, signal: AbortSignal) => Promise<unknown>) =>
    async function (request: Request, response: Response): Promise<void> {
      if (!keys.has(request.headers.authorization ?? '')) return void response.status(401).json({ error: {} })
      const left = new AbortController()
      response.on('close', () => left.abort())
      try {
        await handle(request, response, left.signal)
      } catch {
        if (response.headersSent) response.destroy()
        else response.status(502).json({ error: {} })
      }
    }
  const app = express().use(express.json({ limit: '32mb' }))
  app.post(
    '/ai/v1/chat/completions',
    checked(async ({ body }, response, signal) => {
      const given = body as OpenAI.Chat.ChatCompletionCreateParams
      if (given.stream !== true) return response.json(await client.chat.completions.create(given, { signal }))
      const chunks = await client.chat.completions.create(given, { signal })
      response.setHeader('content-type', 'text/event-stream')
      for await (const chunk of chunks) {
        if (!response.write(`data: ${JSON.stringify(chunk)}\n\n`)) {
          await new Promise((resolve) => response.once('drain', resolve).once('close', resolve))
        }
      }
      response.end('data: [DONE]\n\n')
    }),
  )
  app.post(
    '/ai/v1/embeddings',
    checked(async ({ body }, response, signal) =>
      response.json(await client.embeddings.create(body as OpenAI.EmbeddingCreateParams, { signal })),
    ),
  )
  return app as RequestListener
}
