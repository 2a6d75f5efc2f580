/** The `reason` of an error of a call that did not run, because it must not be in a batch with the calls before it. */
export const SEPARATE_REQUEST = 'separate_request'
