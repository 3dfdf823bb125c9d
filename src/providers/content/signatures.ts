/** Google's documented value for calls without a signature, such as those of another vendor's model. */
export const noSignature = 'skip_thought_signature_validator'
