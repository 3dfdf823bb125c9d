/** The shapes of Google's generateContent. Unknown fields are kept. Source: the Gemini API reference, v1beta. */

/** The body of `POST /v1beta/models/{model}:generateContent`. */
export interface GenerateContentRequest {
  readonly contents: readonly Content[]
  readonly systemInstruction?: Content
  readonly tools?: readonly object[]
  readonly toolConfig?: object
  readonly generationConfig?: Readonly<Record<string, unknown>>
  readonly safetySettings?: readonly object[]
  readonly [field: string]: unknown
}

/** What one side says: parts with `text`, `functionCall`, `inlineData` and others. */
export interface Content {
  readonly role?: string
  readonly parts?: readonly ContentPart[]
  readonly [field: string]: unknown
}

export type ContentPart = Readonly<Record<string, unknown>>

/** An answer, or the new parts of a streamed one. */
export interface GenerateContentResponse {
  readonly candidates?: readonly ContentCandidate[]
  readonly promptFeedback?: Readonly<Record<string, unknown>>
  readonly usageMetadata?: Readonly<Record<string, unknown>>
  readonly modelVersion?: string
  readonly responseId?: string
  readonly [field: string]: unknown
}

export interface ContentCandidate {
  readonly content?: Content
  readonly finishReason?: string
  readonly index?: number
  readonly [field: string]: unknown
}
