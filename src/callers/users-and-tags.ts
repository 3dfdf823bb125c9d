import { isStorable } from '../records/storable-text.ts'

/** Maximum length of a user, and of an account, in UTF-16 code units. */
export const longestUser = 256

const longestTag = 64
const mostTags = 10

/** Completes "invalid tags: …". */
export const tagsForm: string = `there may be at most ${mostTags} different ones, each of 1 to ${longestTag} characters`

/** Whether a text is not empty and every store can keep it. */
export function isName(value: unknown, longest: number): value is string {
  return value !== '' && isStorable(value, longest)
}

export function isTags(value: unknown): value is readonly string[] {
  if (!Array.isArray(value) || value.length > mostTags) return false
  return new Set(value).size === value.length && value.every((tag) => isName(tag, longestTag))
}

/** The form of a list of models, for messages. */
export const modelsForm = "an array of model names, each of which may end in '*'"

export function isModels(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length <= 1_000 && value.every((name) => isName(name, 512))
}
