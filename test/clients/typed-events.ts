/** Rules for streams of typed events, as images and transcriptions have them. */

/** The schema name of each event. */
const schemas: Readonly<Record<string, string>> = {
  'image_generation.partial_image': 'ImageGenPartialImageEvent',
  'image_generation.completed': 'ImageGenCompletedEvent',
  'image_edit.partial_image': 'ImageEditPartialImageEvent',
  'image_edit.completed': 'ImageEditCompletedEvent',
  'transcript.text.delta': 'TranscriptTextDeltaEvent',
  'transcript.text.segment': 'TranscriptTextSegmentEvent',
  'transcript.text.done': 'TranscriptTextDoneEvent',
}

/** The faults of a stream. `byDocument`: the faults of a value by the name of its schema. */
export function typedFaults(text: string, byDocument: (schema: string, value: unknown) => string[]): string[] {
  const frames = text.split('\n\n')
  const end = frames.splice(-2)
  const found = end[0] === 'data: [DONE]' && end[1] === '' ? [] : [`a stream that ends with ${end.join()}`]
  for (const frame of frames) {
    const [, name, data] = /^(?:event: (.+)\n)?data: (.+)$/.exec(frame) ?? []
    const event = JSON.parse(data ?? '{}') as { type?: string }
    const schema = schemas[event.type ?? '']
    if (schema === undefined) found.push(`an event of the type ${event.type}`)
    else found.push(...byDocument(schema, event))
    // Image events have a name in the frame, transcript events do not.
    if (name !== (schema?.startsWith('Image') ? event.type : undefined)) found.push(`${event.type} under ${name}`)
  }
  return found
}
