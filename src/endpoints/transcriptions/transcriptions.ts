import { GatewayError } from '../../errors.ts'
import { release } from '../../http/flow-of.ts'
import { dataFrame } from '../../http/sse.ts'
import type { TranscriptionRequest } from '../../wire/transcriptions.ts'
import { defineEndpoint } from '../define.ts'
import type { CallEndpoint } from '../endpoint.ts'
import { overlaid } from '../order.ts'
import { openTranscript, transcriptFrames, transcriptReply, type OpenTranscript } from './answer.ts'
import { Recording } from './recording.ts'
import { readTranscription } from './request.ts'

/** `POST /v1/audio/transcriptions`. */
export const transcriptions: CallEndpoint<TranscriptionRequest, OpenTranscript> = defineEndpoint({
  method: 'POST',
  path: '/v1/audio/transcriptions',
  name: 'audio.transcriptions',
  makes: 'transcripts',
  read: readTranscription,
  texts: ['prompt', 'keywords', 'known_speaker_names'],
  async fit(order, model) {
    // A form that is passed on as it arrives could not be sent to a second deployment.
    if (model.deployments.length > 1) await order.form?.keep()
  },
  async ask(provider, call, context) {
    const recording = new Recording()
    const answer = provider.transcribe?.(overlaid(call, { form: call.form && recording.tap(call.form) }))
    if (answer !== undefined) return openTranscript(await answer, context, recording)
    throw new GatewayError('unsupported_value', { param: 'model', message: 'This model cannot transcribe.' })
  },
  discard(answer) {
    if (answer.kind === 'events') release(answer.events.rest)
  },
  whole: transcriptReply,
  frames: transcriptFrames,
  idle: () => dataFrame({ type: 'transcript.text.delta', delta: '' }),
})
