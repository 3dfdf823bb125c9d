/** What a host can look into: what clients ask, and what models answer. */
import type { Conversation } from '../conversation/conversation.ts'
import type { ErrorCode } from '../errors.ts'

/** The call that is inspected. */
export interface InspectedCall {
  /** The request's id; the client gets it as `x-request-id`. */
  readonly id: string
  /** The name of the endpoint, such as `chat.completions`. */
  readonly endpoint: string
  /** The public name of the model. */
  readonly model: string
  /** Who asks. */
  readonly caller: {
    /** The account that pays. */
    readonly account: string
    /** The group of the key. */
    readonly group: string
    /** The public id of the API key; undefined if the host authenticates otherwise. */
    readonly key?: string | undefined
    /** The person behind the request, if the host knows them. */
    readonly user?: string | undefined
  }
}

/** Whether a request is passed on, refused or changed. */
export type RequestVerdict =
  /** The client gets an error in the form of its API, and no vendor is called. */
  | {
      /** Why, in words for the client. */
      readonly refuse: string
      /** The code of the error. Default `content_policy_violation`. */
      readonly code?: ErrorCode
    }
  /** The vendor gets this conversation. */
  | {
      /** The changed conversation: new objects, the parts that are unchanged may be the same ones. */
      readonly conversation: Conversation
      /**
       * True if the vendor gets each signed block as it wrote it, because the answers were changed back. Default: a block whose
       * content has changed goes without its signature.
       */
      readonly reversible?: boolean
    }

/** A piece of an answer: the text of one block that has not been sent yet. */
export interface AnswerWindow {
  /** What the text is: `input` is that of a tool's call. */
  readonly kind: 'text' | 'refusal' | 'reasoning' | 'input'
  /** The text: what was held back before, and what has arrived. Empty where a call begins, and where nothing is left at an end. */
  readonly text: string
  /** Whether the block is complete, so that nothing can be held back. */
  readonly ended: boolean
  /** Whether the block is JSON: the input of a function, or an answer that the client asked for as JSON. */
  readonly isJson: boolean
  /** The name of the tool that is called. */
  readonly tool?: string | undefined
  /** The number of the choice, from 0. */
  readonly choice: number
  /** The number of the block, from 0 through all choices. */
  readonly block: number
}

/** A replacement in the text of a window. */
export interface Edit {
  /** The first character that is replaced. */
  readonly start: number
  /** The one after the last. */
  readonly end: number
  /** What stands there instead. */
  readonly text: string
}

/** What becomes of a window. */
export interface AnswerVerdict {
  /**
   * Characters at the end of the text to see again with what follows, at most `holdBack.characters`, which is the default. What
   * was replaced is not shown again.
   */
  readonly hold?: number
  /** Replacements in ascending order that do not overlap. Default: none. */
  readonly edits?: readonly Edit[]
  /** True if the request of the next turn changes the edits back, so that signatures stay valid. Default false. */
  readonly reversible?: boolean
  /**
   * Ends the answer here, as by the filter of a vendor: the window is not sent. The text, unless it is empty, are words for the
   * client.
   */
  readonly cut?: string
}

/** Looks at requests, answers, or both. */
export interface Inspector {
  /** In errors. Default `an inspector`. */
  readonly name?: string
  /** Called before each attempt at a deployment, with what the vendor would get. Nothing returned: it passes. */
  request?(
    conversation: Conversation,
    call: InspectedCall,
  ): RequestVerdict | undefined | void | Promise<RequestVerdict | undefined | void>
  /** Called with each piece of an answer as it arrives. Nothing returned: it passes. */
  answer?(
    window: AnswerWindow,
    call: InspectedCall,
  ): AnswerVerdict | undefined | void | Promise<AnswerVerdict | undefined | void>
  /** How much of an answer waits for what follows it. */
  readonly holdBack?: {
    /** Characters. Default 64. */
    readonly characters?: number
    /** Milliseconds without further text after which it is sent all the same. Default 50; `Infinity`: it waits. */
    readonly ms?: number
  }
  /** Milliseconds for each verdict. Default 2,000. */
  readonly deadlineMs?: number
  /**
   * What happens if it throws, rejects or takes too long. `refuse` (the default): the request fails with 503, a stream with an
   * error event. `pass`: as if it had said nothing; `hooks.failure` gets the error.
   */
  readonly onFailure?: 'refuse' | 'pass'
}

/** An inspector, or a function that makes one for each request, with what it remembers of it; undefined: none. */
export type Inspect = Inspector | ((call: InspectedCall) => Inspector | undefined)
