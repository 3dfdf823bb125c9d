import { refusedValue } from '../../errors.ts'
import { dataFrame } from '../../http/sse.ts'
import type { Provider } from '../../providers/contract.ts'
import type { TranscriptionRequest } from '../../wire/transcriptions.ts'
import { defineEndpoint, type EndpointDefinition } from '../define.ts'
import type { CallEndpoint } from '../endpoint.ts'
import { overlaid } from '../order.ts'
import { openTranscript, transcriptFrames, transcriptReply, type OpenTranscript } from './answer.ts'
import { Recording } from './recording.ts'
import { readTranscription, readTranslation } from './request.ts'

type Definition = EndpointDefinition<TranscriptionRequest, OpenTranscript>

/** `POST /v1/audio/transcriptions`. */
export const transcriptions: CallEndpoint<TranscriptionRequest, OpenTranscript> = defineEndpoint({
  ...listening('transcribe', 'This model cannot transcribe.'),
  path: '/v1/audio/transcriptions',
  name: 'audio.transcriptions',
  read: readTranscription,
  texts: ['prompt', 'keywords', 'known_speaker_names'],
  whole: (answer, context) => transcriptReply(answer, context, 'transcribe'),
  frames: transcriptFrames,
  idle: () => dataFrame({ type: 'transcript.text.delta', delta: '' }),
})

/** `POST /v1/audio/translations`: what is said, in English. */
export const translations: CallEndpoint<TranscriptionRequest, OpenTranscript> = defineEndpoint({
  ...listening('translateSpeech', 'This model cannot translate speech.'),
  path: '/v1/audio/translations',
  name: 'audio.translations',
  read: readTranslation,
  texts: ['prompt'],
  whole: (answer, context) => transcriptReply(answer, context, 'translate'),
})

/** What both endpoints have in common. `message`: of the refusal of a model that lacks the method. */
function listening(method: keyof Pick<Provider, 'transcribe' | 'translateSpeech'>, message: string) {
  return {
    method: 'POST',
    makes: 'transcripts',
    async fit(order, model) {
      // A form that is passed on as it arrives could not be sent to a second deployment.
      if (model.deployments.length > 1) await order.form?.keep()
    },
    async ask(provider, call, context) {
      const recording = new Recording()
      const answer = provider[method]?.(overlaid(call, { form: call.form && recording.tap(call.form) }))
      if (answer !== undefined) return openTranscript(await answer, context, recording)
      throw refusedValue(message, 'model')
    },
    discard(answer) {
      if (answer.kind === 'stream') answer.pieces.stop()
    },
  } satisfies Partial<Definition>
}
