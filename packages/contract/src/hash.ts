/** A hash of all input and output schemas, without descriptions. `npm run openapi:write` updates it. */
export const CONTRACT_HASH = 'b152d593f2e56cbd'
