/** Response headers that tell a client when and whether to try again. */
const advice = /^(?:retry-after|x-)/

/** The message for a request that was refused, in OpenAI's form. `body`: the gateway's reply, `{"error": …}`. */
export function errorMessage(
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string | Uint8Array,
  lane: string | undefined,
): string {
  const { error } = JSON.parse(Buffer.from(body).toString('utf8')) as { error: unknown }
  const given = Object.fromEntries(Object.entries(headers).filter(([name]) => advice.test(name)))
  return JSON.stringify({
    type: 'error',
    status,
    ...(lane !== undefined && { stream_id: lane }),
    error,
    headers: given,
  })
}
