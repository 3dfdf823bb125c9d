/** The formats of a model's text frames: what one stream has learnt, the next ones need not learn. */
import type { WordView } from '../frame-window.ts'
import type { FrameTemplate } from './template.ts'

/** More than a vendor uses for one model. */
const maxTemplates = 8

export class FrameTemplates {
  readonly #templates: FrameTemplate[] = []

  /** The template for a stream with this id, by its frame at `at`; undefined if that has an unknown format. */
  templateFor(view: WordView, at: number, id: string): FrameTemplate | undefined {
    for (const known of this.#templates) {
      const template = known.forStream(view, at, id)
      if (template !== undefined) return template
    }
    return undefined
  }

  /** Adds the format of a template. The one added first is dropped when there are too many. */
  add(template: FrameTemplate): void {
    if (this.#templates.length === maxTemplates) this.#templates.pop()
    this.#templates.unshift(template)
  }
}
