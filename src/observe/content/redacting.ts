/** What is taken from content before it is kept. */
import { edited } from '../../inspect/edited.ts'
import { findAll, patternOf, type MaskPattern } from '../../inspect/mask/patterns.ts'
import { mapStrings, mapText } from '../../inspect/strings.ts'
import type { LoggedContent } from './content.ts'
import type { ContentOptions, Redact } from './options.ts'

/** What structures a conversation and was not written by anyone. */
const structure: ReadonlySet<string> = new Set(['kind', 'type', 'role', 'by', 'form', 'format', 'mediaType'])
/** In place of media. */
const reference = /^sha256:[\da-f]{64}$/

/** The functions of the option `redact`. Throws a `TypeError` for an invalid pattern. */
export function redacting(redact: ContentOptions['redact'] = []): readonly Redact[] {
  return redact.map((each) => (typeof each === 'function' ? each : hiding(patternOf(each, 'content.redact'))))
}

function hiding(pattern: MaskPattern): Redact {
  const hide = (text: string) => {
    if (reference.test(text)) return text
    const found = Array.from(findAll(text, pattern), (place) => ({ ...place, text: `[${pattern.name}]` }))
    return edited(text, found)
  }
  return (content: LoggedContent) => {
    const { request, answer } = content
    const hidden = mapStrings({ request, answer }, (text) => mapText(text, hide), structure)
    return { ...content, ...hidden }
  }
}
