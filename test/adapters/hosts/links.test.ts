/** Links in responses contain the mount path of the gateway. */
import { describe, expect, it } from 'vitest'
import { createGateway, type Gateway } from 'modelhatch'
import { demo } from 'modelhatch/providers'
import { ask } from './client.ts'
import { jsonHeaders, key } from './gateway.ts'
import { everyHost, type Host, type RunningHost } from './hosts.ts'

/** The link of a finished video. */
async function linkOf(running: RunningHost, pass: (ms: number) => void): Promise<{ id: string; link: string }> {
  const body = JSON.stringify({ model: 'film', prompt: 'a hatch opens' })
  const submitted = await ask(running, { method: 'POST', target: '/v1/videos/generations', headers: jsonHeaders, body })
  const { id } = JSON.parse(submitted.body) as { id: string }
  // The gateway's own sweep may be working on the task meanwhile.
  for (;;) {
    pass(6_000)
    const polled = await ask(running, {
      method: 'GET',
      target: `/v1/videos/generations/${id}?x=1`,
      headers: jsonHeaders,
    })
    const { status, video_url: link } = JSON.parse(polled.body) as { status: string; video_url: string }
    if (status === 'completed') return { id, link }
    expect(status).not.toBe('failed')
  }
}

function filming(publicUrl?: string): { gateway: Gateway; pass: (ms: number) => void } {
  let passed = 0
  const gateway = createGateway({
    keys: { [key]: {} },
    models: { film: demo({ videoSeconds: 0 }) },
    clock: () => Date.now() + passed,
    ...(publicUrl !== undefined && { publicUrl }),
  })
  return { gateway, pass: (ms) => void (passed += ms) }
}

async function behind(host: Host, publicUrl?: string) {
  const { gateway, pass } = filming(publicUrl)
  const running = await host.start(gateway)
  try {
    return await linkOf(running, pass)
  } finally {
    await running.close()
    await gateway.close()
  }
}

describe.each(everyHost)('behind $name', (host) => {
  it('the link of a video contains the mount path', async () => {
    const { id, link } = await behind(host)
    expect(link).toBe(`${host.path}/v1/videos/${id}/content`)
  })
})

it.each(['https://front.example/ai', 'https://front.example/ai/', 'https://front.example/ai/v1'])(
  'publicUrl takes precedence over the mount path: %s',
  async (publicUrl) => {
    const { id, link } = await behind(everyHost.find(({ path }) => path !== '') as Host, publicUrl)
    expect(link).toBe(`https://front.example/ai/v1/videos/${id}/content`)
  },
)
