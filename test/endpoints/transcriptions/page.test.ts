import { openai } from 'modelhatch/providers'
import { expect, test } from 'vitest'
import { hostedWith, vendorFor } from '../../hosted.ts'

test.each(['srt', 'vtt', 'text', 'json'])(
  'a page that a proxy sends in the place of %s is an error',
  async (format) => {
    const vendor = await vendorFor(({ body }, response) => {
      expect(body.length).toBeGreaterThan(0)
      response.setHeader('content-type', 'text/html; charset=utf-8').end('<p>canary')
    })
    const { url, receipt } = await hostedWith({ models: { m: openai({ baseURL: vendor.baseURL }) } })
    const form = new FormData()
    form.set('model', 'm')
    form.set('response_format', format)
    form.set('file', new File([Buffer.alloc(64)], 'a.wav', { type: 'audio/wav' }))
    const headers = { authorization: 'Bearer sk-test' }
    const answer = await fetch(`${url}/v1/audio/transcriptions`, { method: 'POST', headers, body: form })
    expect(answer.status).toBe(503)
    expect(await answer.text()).not.toContain('canary')
    expect(await receipt()).toMatchObject({ outcome: 'failed' })
  },
)
