import type { Reply, Sink } from '../../http/exchange.ts'

/** The reply, which ends once `stored` resolves. */
export async function endsStored(reply: Promise<Reply> | Reply, stored: Promise<unknown>): Promise<Reply> {
  const given = await reply
  const { body } = given
  if (typeof body !== 'string' && !(body instanceof Uint8Array))
    return { ...given, body: { start: (sink) => body.start(endingLater(sink, stored)) } }
  await stored
  return given
}

function endingLater(sink: Sink, stored: Promise<unknown>): Sink {
  return {
    write: (piece) => sink.write(piece),
    drained: () => sink.drained(),
    end: (whole) => void stored.then(() => sink.end(whole)),
    destroy: () => sink.destroy(),
    get closed() {
      return sink.closed
    },
    get unsent() {
      return sink.unsent
    },
  }
}
